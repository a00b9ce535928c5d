import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Access to pages for the operator only. The source address proves nothing; only the key does (G110). */
export interface OperatorPages {
  /** The full URL of such a page with the key, as printed at the start. */
  address(path: string): string;
  /** Whether the request has the key, in the cookie or as query parameter `key`. */
  isOpenTo(request: FastifyRequest): boolean;
  /** Exchanges a key in the query for the cookie and redirects to the same page without it; returns whether it did. */
  exchange(request: FastifyRequest, reply: FastifyReply): boolean;
}

/** `appUrl` has no trailing slash; with https the cookie is Secure. */
export function operatorPages({ key, appUrl }: { readonly key: string; readonly appUrl: string }): OperatorPages {
  const secure = appUrl.startsWith("https:");
  const cookie = `${secure ? "__Host-" : ""}operator=${key}`;
  const keyIn = ({ query }: FastifyRequest) => (query as Record<string, unknown>)["key"];
  const hasKey = (request: FastifyRequest) => isSame(keyIn(request), key);

  return {
    address: (path) => `${appUrl}${path}?key=${key}`,
    isOpenTo: (request) =>
      hasKey(request) || (request.headers.cookie ?? "").split(/; */).some((pair) => isSame(pair, cookie)),
    exchange(request, reply) {
      if (!hasKey(request)) return false;
      const { pathname, searchParams } = new URL(request.url, appUrl);
      searchParams.delete("key");
      void reply
        .header("set-cookie", `${cookie}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`)
        .header("cache-control", "no-store")
        .header("referrer-policy", "no-referrer")
        .redirect(searchParams.size > 0 ? `${pathname}?${searchParams}` : pathname, 303);
      return true;
    },
  };
}

function isSame(given: unknown, expected: string): boolean {
  if (typeof given !== "string") return false;
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
