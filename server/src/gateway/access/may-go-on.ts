import { type Grants, isUnexpired } from "../principal/grants.ts";
import { keepsConnections } from "../target/availability.ts";
import type { Targets } from "../target/targets.ts";
import type { OpenExchange } from "./open-exchanges.ts";

/**
 * Whether the exchange still belongs to the same run of the same environment, by a right that is still in force. `gateway.ts`
 * asks it of everything open after each change of a target or a grant, and again at intervals.
 */
export function mayGoOn(
  { targets, grants }: { readonly targets: Targets; readonly grants: Grants },
  exchange: OpenExchange,
): boolean {
  const target = targets.find(exchange.subdomain);
  if (target?.route.id !== exchange.environmentId || target.run !== exchange.run) return false;
  if (!keepsConnections(target.route, targets.nowMs())) return false;
  if (exchange.grantId === undefined) return exchange.secret === target.route.secret;
  const grant = grants.get(exchange.grantId);
  return grant !== undefined && isUnexpired(grant, targets.nowMs());
}
