import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";

/** Whether an address is one of the operator's reverse proxies, `hop` proxies away. */
export type TrustProxy = (address: string, hop: number) => boolean;

/** Compiles TRUST_PROXY: comma-separated addresses and networks; undefined trusts none. Throws for an invalid address. */
export function trustedProxies(setting: string | undefined): TrustProxy {
  return !setting ? () => false : proxyAddr.compile(setting.split(",").map((part) => part.trim()));
}

/** The client's address: the last one in X-Forwarded-For that a trusted proxy added, else the connection's own. */
export function clientAddress(request: IncomingMessage, trusted: TrustProxy): string {
  const own = request.socket.remoteAddress ?? "";
  // Without a proxy the header is not parsed, for speed.
  return trusted(own, 0) ? proxyAddr(request, trusted) : own;
}
