import { type Grants, isUnexpired } from "../principal/grants.ts";
import { availabilityOf, keepsConnections } from "../target/availability.ts";
import type { Targets } from "../target/targets.ts";
import type { OpenExchange } from "./open-exchanges.ts";

/**
 * Whether an open exchange is still authorized: same environment, same run, and a valid grant or secret. `gateway.ts`
 * checks every open exchange after each change of a target or grant, and at intervals.
 */
export function mayGoOn(
  { targets, grants }: { readonly targets: Targets; readonly grants: Grants },
  exchange: OpenExchange,
): boolean {
  const target = targets.find(exchange.subdomain);
  if (target?.route.id !== exchange.environmentId || target.run !== exchange.run) return false;
  if (!keepsConnections(target.route, targets.nowMs())) return false;
  if (exchange.isSsh && availabilityOf(target.route, targets.nowMs()) === "paused") return false;
  if (exchange.grantId === undefined) return exchange.secret === target.route.secret;
  const grant = grants.get(exchange.grantId);
  return grant !== undefined && isUnexpired(grant, targets.nowMs());
}
