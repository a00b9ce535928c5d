import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { addressToken } from "./address-token.ts";
import type { GrantCookies } from "./grant-cookies.ts";
import type { Grant } from "./grants.ts";

/** The authenticated sender of a request. */
export type Principal =
  /** By cookie. */
  | { readonly kind: "owner" | "shared"; readonly grant: Grant }
  /** By the environment's secret, for scripts (G95). */
  | { readonly kind: "token" };

type Unidentified =
  | { readonly kind: "wrong_token" }
  | { readonly kind: "nobody" }
  /** The cookie is genuine, but its grant is not in memory: another gateway may just have created it. */
  | { readonly kind: "unknown_grant"; readonly id: string };

/**
 * Authenticates a request to an environment, or to a port of it. The cookie takes precedence over the token, because JupyterLab's pages send
 * tokens of their own in the header.
 */
export function principalOf(
  request: IncomingMessage,
  route: EnvironmentRoute,
  cookies: GrantCookies,
  port: number | undefined,
): Principal | Unidentified {
  const { cookie, authorization } = request.headers;
  const grant = cookies.read(cookie, route, port);
  if (grant) return { kind: grant.share ? "shared" : "owner", grant };
  const token = /^(?:token|bearer) (.*)/i.exec(authorization ?? "")?.[1] ?? addressToken(request);
  if (token !== undefined && isSame(token.trim(), route.secret)) return { kind: "token" };
  const id = cookies.unread(cookie, route);
  if (id !== undefined) return { kind: "unknown_grant", id };
  return { kind: token === undefined ? "nobody" : "wrong_token" };
}

/** Compares digests, so that the timing does not reveal the secret's length. */
function isSame(token: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", token, "buffer"), hash("sha256", secret, "buffer"));
}
