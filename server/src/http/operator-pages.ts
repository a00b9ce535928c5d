import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Pages for the operator of this machine alone. Where a request comes from proves nothing: only the key does (G110). */
export interface OperatorPages {
  /** The whole address of such a page with the key in it, as the start prints it. */
  address(path: string): string;
  /** Whether the request carries the key, as the cookie or as `key` in its address. */
  isOpenTo(request: FastifyRequest): boolean;
  /** Exchanges a key in the address of a page for the cookie and leads to the same page without it; true when it did. */
  exchange(request: FastifyRequest, reply: FastifyReply): boolean;
}

/** `key` is a long random text, `appUrl` has no slash at its end; its scheme decides about the cookie. */
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
