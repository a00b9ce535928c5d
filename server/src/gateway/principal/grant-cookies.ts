import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { cookieHeader } from "./cookie-header.ts";
import { type Grant, type Grants, grantDays } from "./grants.ts";
import { cookieName } from "./reserved-names.ts";

export interface GrantCookies {
  /** The Set-Cookie value for a new grant: host-only, not readable by script (G90). */
  issue(grant: Grant): string;
  /** The grant that a Cookie header proves for this environment, or a port of it: its owner's, or a share link's. */
  read(header: string | undefined, environment: Environment, port?: number): Grant | undefined;
  /**
   * The id of a grant that a Cookie header proves and that is not in memory yet: another gateway may just have created
   * it. Undefined for a second after `noteRead`, which limits the queries for a cookie whose grant has ended.
   */
  unread(header: string | undefined, environment: Environment): string | undefined;
  noteRead(id: string): void;
  /** The id of the grant that a Cookie header proves, whether or not the grant is valid still. */
  proven(header: string | undefined, environment: Environment): string | undefined;
}

interface Environment {
  readonly id: string;
  readonly userId: string;
}

interface GrantCookiesDeps {
  readonly secret: Buffer;
  readonly secure: boolean;
  readonly grants: Grants;
  /** Compared with the expiry inside the cookie. */
  readonly nowMs: () => number;
}

const maxCached = 10_000;
/** Without TLS a sibling page can set cookies under our name; ours is among the first few. */
const maxTried = 8;
const unreadPauseMs = 1000;

/** A cookie's value is `id.expiry.mac`: the grant's id, a Unix time in s, and an HMAC over both, environment, user and role. */
export function createGrantCookies({ secret, secure, grants, nowMs }: GrantCookiesDeps): GrantCookies {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "gateway cookie v1", 32));
  const prefix = `${cookieName(secure)}=`;
  const verified = new Map<string, Claims>();
  const readAgainAt = new Map<string, number>();

  function isProven(value: string, claims: Claims, environment: Environment, role: Role): boolean {
    if (!hasMac(key, value, claims, environment, role)) return false;
    if (verified.size >= maxCached) verified.clear();
    verified.set(value, claims);
    return true;
  }

  function grantOf(value: string): Grant | undefined {
    const claims = verified.get(value) ?? claimsOf(value);
    const grant = grants.get(claims.id);
    if (!grant || hasExpired(claims, nowMs())) return undefined;
    return verified.has(value) || isProven(value, claims, environmentOf(grant), roleOf(grant)) ? grant : undefined;
  }

  function provenId(header: string | undefined, environment: Environment, isWanted: (id: string) => boolean) {
    return firstOf(header, prefix, (value) => {
      const claims = claimsOf(value);
      if (hasExpired(claims, nowMs()) || !isWanted(claims.id)) return undefined;
      return roles.some((role) => isProven(value, claims, environment, role)) ? claims.id : undefined;
    });
  }

  return {
    issue: (grant) => issueCookie(prefix, key, grant, nowMs() / 1000, secure),
    read(header, environment, port) {
      return firstOf(header, prefix, (value) => {
        const grant = grantOf(value);
        if (grant?.environmentId !== environment.id || grant.userId !== environment.userId) return undefined;
        return grant.port === port ? grant : undefined;
      });
    },
    unread: (header, environment) =>
      provenId(header, environment, (id) => !grants.has(id) && !((readAgainAt.get(id) ?? 0) > performance.now())),
    proven: (header, environment) => provenId(header, environment, () => true),
    noteRead(id) {
      if (readAgainAt.size >= maxCached) readAgainAt.clear();
      readAgainAt.set(id, performance.now() + unreadPauseMs);
    },
  };
}

/** The cookie's content, unverified. */
interface Claims {
  readonly id: string;
  /** Unix time in s; NaN for a malformed cookie. */
  readonly expiresAt: number;
}

function claimsOf(value: string): Claims {
  const [id = "", expiry] = value.split(".", 2);
  return { id, expiresAt: Number(expiry) };
}

function hasExpired({ expiresAt }: Claims, nowMs: number): boolean {
  return !(expiresAt * 1000 > nowMs);
}

/** The first result among the cookies with our name. */
function firstOf<Found>(
  header: string | undefined,
  prefix: string,
  find: (value: string) => Found | undefined,
): Found | undefined {
  let tried = 0;
  for (const pair of cookieHeader(header).ours) {
    if (!pair.startsWith(prefix)) continue;
    if (++tried > maxTried) return undefined;
    const found = find(pair.slice(prefix.length));
    if (found !== undefined) return found;
  }
  return undefined;
}

function issueCookie(prefix: string, key: Buffer, grant: Grant, now: number, secure: boolean): string {
  const longest = Math.floor(now) + grantDays * 86_400;
  const expiresAt = Math.min(longest, Math.floor((grant.share?.expiresAtMs ?? Number.POSITIVE_INFINITY) / 1000));
  const seconds = Math.max(0, expiresAt - Math.floor(now));
  const mac = macOf(key, { id: grant.id, expiresAt }, environmentOf(grant), roleOf(grant)).toString("base64url");
  const value = `${grant.id}.${expiresAt}.${mac}`;
  return `${prefix}${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}

function hasMac(key: Buffer, value: string, claims: Claims, environment: Environment, role: Role): boolean {
  const mac = Buffer.from(value.split(".")[2] ?? "", "base64url");
  return mac.length === 32 && timingSafeEqual(mac, macOf(key, claims, environment, role));
}

function macOf(key: Buffer, { id, expiresAt }: Claims, environment: Environment, role: Role): Buffer {
  return createHmac("sha256", key)
    .update([id, environment.id, environment.userId, role, expiresAt].join("\n"))
    .digest();
}

type Role = "owner" | "shared";
const roles: readonly Role[] = ["owner", "shared"];
const roleOf = ({ share }: Grant): Role => (share ? "shared" : "owner");
const environmentOf = ({ environmentId: id, userId }: Grant): Environment => ({ id, userId });
