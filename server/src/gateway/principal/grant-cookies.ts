import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { cookieHeader } from "./cookie-header.ts";
import { type Grant, type Grants, grantDays } from "./grants.ts";
import { cookieName } from "./reserved-names.ts";

export interface GrantCookies {
  /** The Set-Cookie value for a new grant: host-only, not readable by script (G90). */
  issue(grant: Grant): string;
  /** The grant that a Cookie header proves for this environment: its owner's, or of a link that its owner made. */
  read(header: string | undefined, environment: Environment): Grant | undefined;
  /**
   * The id of a grant that a Cookie header proves and that is not known here: another gateway may have made it a moment
   * ago. Undefined for a second after `noteRead`, so that a cookie whose grant has ended costs the database little.
   */
  unread(header: string | undefined, environment: Environment): string | undefined;
  noteRead(id: string): void;
}

interface Environment {
  readonly id: string;
  readonly userId: string;
}

const mostCached = 10_000;
/** A sibling page can plant copies under our name without TLS; ours is among the first few. */
const mostTried = 8;
const rememberedMs = 1000;

/** `now`, in ms, is compared with the expiry inside the cookie. */
export function createGrantCookies(parts: {
  readonly secret: Buffer;
  readonly secure: boolean;
  readonly grants: Grants;
  readonly now: () => number;
}): GrantCookies {
  const key = Buffer.from(hkdfSync("sha256", parts.secret, "", "gateway cookie v1", 32));
  const prefix = `${cookieName(parts.secure)}=`;
  const verified = new Map<string, { readonly grant: string; readonly expiresAt: number }>();
  const read = new Map<string, number>();

  /** What the first of our pairs leads to. */
  function first<Found>(header: string | undefined, find: (pair: string) => Found | undefined): Found | undefined {
    let tried = 0;
    for (const pair of cookieHeader(header).ours) {
      if (!pair.startsWith(prefix)) continue;
      if (++tried > mostTried) return undefined;
      const found = find(pair);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function macOf(id: string, environment: Environment, role: Role, expiresAt: number): Buffer {
    return createHmac("sha256", key)
      .update([id, environment.id, environment.userId, role, expiresAt].join("\n"))
      .digest();
  }

  /** The grant's id in a pair that one of the roles proves; undefined for what we did not write, or is over. */
  function proven(pair: string, environment: Environment, of: readonly Role[]): string | undefined {
    const [id = "", expiry = "", mac = ""] = pair.slice(prefix.length).split(".");
    const expiresAt = Number(expiry);
    const given = Buffer.from(mac, "base64url");
    if (given.length !== 32 || !(expiresAt * 1000 > parts.now())) return undefined;
    if (!of.some((role) => timingSafeEqual(given, macOf(id, environment, role, expiresAt)))) return undefined;
    if (verified.size >= mostCached) verified.clear();
    verified.set(pair, { grant: id, expiresAt });
    return id;
  }

  function verify(pair: string): Grant | undefined {
    const known = verified.get(pair);
    if (known) return known.expiresAt * 1000 > parts.now() ? parts.grants.get(known.grant) : undefined;
    const grant = parts.grants.get(pair.slice(prefix.length).split(".", 1)[0] as string);
    return grant && proven(pair, environmentOf(grant), [roleOf(grant)]) ? grant : undefined;
  }

  return {
    issue(grant) {
      const longest = Math.floor(parts.now() / 1000) + grantDays * 86_400;
      const expiresAt = Math.min(longest, Math.floor((grant.share?.expiresAtMs ?? Number.POSITIVE_INFINITY) / 1000));
      const seconds = Math.max(0, expiresAt - Math.floor(parts.now() / 1000));
      const mac = macOf(grant.id, environmentOf(grant), roleOf(grant), expiresAt);
      const value = `${grant.id}.${expiresAt}.${mac.toString("base64url")}`;
      return `${prefix}${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${parts.secure ? "; Secure" : ""}`;
    },
    read(header, environment) {
      return first(header, (pair) => {
        const grant = verify(pair);
        return grant?.environmentId === environment.id && grant.userId === environment.userId ? grant : undefined;
      });
    },
    unread(header, environment) {
      return first(header, (pair) => {
        const id = proven(pair, environment, roles);
        const isRead = id === undefined || parts.grants.has(id) || (read.get(id) ?? 0) > performance.now();
        return isRead ? undefined : id;
      });
    },
    noteRead(id) {
      if (read.size >= mostCached) read.clear();
      read.set(id, performance.now() + rememberedMs);
    },
  };
}

type Role = "owner" | "shared";
const roles: readonly Role[] = ["owner", "shared"];
const roleOf = ({ share }: Grant): Role => (share ? "shared" : "owner");
const environmentOf = ({ environmentId: id, userId }: Grant): Environment => ({ id, userId });
