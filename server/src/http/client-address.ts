import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

/** Whether an address is one of the operator's own proxies, `hop` proxies away from here. */
export type TrustProxy = (address: string, hop: number) => boolean;

/** TRUST_PROXY as Fastify and the gateway take it: addresses and networks, comma-separated; undefined trusts none. Throws for what is no address. */
export function trustedProxies(setting: string | undefined): TrustProxy {
  return !setting ? () => false : proxyAddr.compile(setting.split(",").map((part) => part.trim()));
}

/** The address of the visitor: the last one in X-Forwarded-For that a trusted proxy speaks for, else the connection's own. */
export function clientAddress(request: IncomingMessage, trusted: TrustProxy): string {
  const own = request.socket.remoteAddress ?? "";
  // Most requests come straight from a visitor, and the header is not even read.
  return trusted(own, 0) ? proxyAddr(request, trusted) : own;
}
