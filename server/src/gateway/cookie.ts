import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { cookieHeader } from "./cookie-header.ts";
import { type Grant, type Grants, grantDays } from "./grants.ts";
import { cookieName } from "./names.ts";

export interface Cookies {
  /** The Set-Cookie value for a new grant: host-only, not readable by script (G90). */
  issue(grant: Grant): string;
  /** The grant that a Cookie header proves for this environment: its owner's, or of a link that its owner made. */
  read(header: string | undefined, environment: { readonly id: string; readonly userId: string }): Grant | undefined;
}

const mostCached = 10_000;
/** A sibling page can plant copies under our name without TLS; ours is among the first few. */
const mostTried = 8;

/** `now`, in ms, is compared with the expiry inside the cookie. */
export function createCookies(parts: {
  readonly secret: Buffer;
  readonly secure: boolean;
  readonly grants: Grants;
  readonly now: () => number;
}): Cookies {
  const key = Buffer.from(hkdfSync("sha256", parts.secret, "", "gateway cookie v1", 32));
  const prefix = `${cookieName(parts.secure)}=`;
  const verified = new Map<string, { readonly grant: string; readonly expiresAt: number }>();

  function macOf(grant: Grant, expiresAt: number): Buffer {
    return createHmac("sha256", key)
      .update([grant.id, grant.environmentId, grant.userId, grant.share?.id ?? "owner", expiresAt].join("\n"))
      .digest();
  }

  function verify(pair: string): Grant | undefined {
    const known = verified.get(pair);
    if (known) return known.expiresAt * 1000 > parts.now() ? parts.grants.get(known.grant) : undefined;
    const [id = "", expiry = "", mac = ""] = pair.slice(prefix.length).split(".");
    const grant = parts.grants.get(id);
    const expiresAt = Number(expiry);
    const given = Buffer.from(mac, "base64url");
    if (
      !grant ||
      given.length !== 32 ||
      !timingSafeEqual(given, macOf(grant, expiresAt)) ||
      !(expiresAt * 1000 > parts.now())
    )
      return undefined;
    if (verified.size >= mostCached) verified.clear();
    verified.set(pair, { grant: id, expiresAt });
    return grant;
  }

  return {
    issue(grant) {
      const longest = Math.floor(parts.now() / 1000) + grantDays * 86_400;
      const expiresAt = Math.min(longest, Math.floor((grant.share?.expiresAtMs ?? Number.POSITIVE_INFINITY) / 1000));
      const seconds = Math.max(0, expiresAt - Math.floor(parts.now() / 1000));
      const value = `${grant.id}.${expiresAt}.${macOf(grant, expiresAt).toString("base64url")}`;
      return `${prefix}${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${parts.secure ? "; Secure" : ""}`;
    },
    read(header, environment) {
      let tried = 0;
      for (const pair of cookieHeader(header).ours) {
        if (!pair.startsWith(prefix)) continue;
        if (++tried > mostTried) return undefined;
        const grant = verify(pair);
        if (grant?.environmentId === environment.id && grant.userId === environment.userId) return grant;
      }
      return undefined;
    },
  };
}
