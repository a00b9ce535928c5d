import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { addressToken } from "./address-token.ts";
import type { GrantCookies } from "./grant-cookies.ts";
import type { Grant } from "./grants.ts";

/** Who sends a request, once it is known. */
export type Principal =
  /** By cookie. */
  | { readonly kind: "owner" | "shared"; readonly grant: Grant }
  /** By the environment's secret, for scripts (G95). */
  | { readonly kind: "token" };

type Unidentified =
  | { readonly kind: "wrong_token" }
  | { readonly kind: "nobody" }
  /** A cookie proves a grant that this gateway has not read: another one may have made it a moment ago. */
  | { readonly kind: "unknown_grant"; readonly id: string };

/**
 * Who sends a request to this environment. The cookie decides first: pages of an environment put tokens of their own
 * into the header (JupyterLab does). Without a cookie the token decides.
 */
export function principalOf(
  request: IncomingMessage,
  route: EnvironmentRoute,
  cookies: GrantCookies,
): Principal | Unidentified {
  const { cookie, authorization } = request.headers;
  const grant = cookies.read(cookie, route);
  if (grant) return { kind: grant.share ? "shared" : "owner", grant };
  const token = /^(?:token|bearer) +(.*)$/i.exec(authorization ?? "")?.[1] ?? addressToken(request);
  if (token !== undefined && isSame(token.trim(), route.secret)) return { kind: "token" };
  const id = cookies.unread(cookie, route);
  if (id !== undefined) return { kind: "unknown_grant", id };
  return { kind: token === undefined ? "nobody" : "wrong_token" };
}

/** Digests have one length, so the comparison does not tell the secret's. */
function isSame(token: string, secret: string): boolean {
  return timingSafeEqual(createHash("sha256").update(token).digest(), createHash("sha256").update(secret).digest());
}
