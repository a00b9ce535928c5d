import type { IncomingMessage } from "node:http";
import { addressKey } from "../../http/limit-requests.ts";
import { busyRefusal, type Refusal } from "../refusals/refusals.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";
import type { OpenRoute } from "./resolve-route.ts";

export interface AdmitDeps {
  readonly appUrl: string;
  readonly exchanges: OpenExchanges;
  readonly addressOf: (request: IncomingMessage) => string;
}

/** Adds an exchange, which the caller removes at its end, or returns a refusal when a concurrency limit is reached. */
export function admit(
  { appUrl, exchanges, addressOf }: AdmitDeps,
  request: IncomingMessage,
  { target: { route }, run, principal }: OpenRoute,
): OpenExchange | Refusal {
  const address = addressKey(addressOf(request));
  const limit = exchanges.limitOf(route.id, address);
  if (limit) return busyRefusal(appUrl, limit);
  const exchange: OpenExchange = {
    subdomain: route.subdomain,
    environmentId: route.id,
    address,
    run,
    grantId: principal.kind === "token" ? undefined : principal.grant.id,
    secret: principal.kind === "token" ? route.secret : undefined,
    destroy: undefined,
    index: -1,
  };
  exchanges.add(exchange);
  return exchange;
}
