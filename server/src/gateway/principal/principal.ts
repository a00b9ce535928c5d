import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { addressToken } from "./address-token.ts";
import type { GrantCookies } from "./grant-cookies.ts";
import type { Grant } from "./grants.ts";

export type Principal =
  /** By cookie. */
  | { readonly kind: "owner" | "shared"; readonly grant: Grant }
  /** By the environment's secret, for scripts (G95). */
  | { readonly kind: "token" }
  | { readonly kind: "wrong_token" }
  | { readonly kind: "nobody" };

/**
 * Who asks. The cookie decides first: pages of an environment put tokens of their own into the header (JupyterLab does),
 * which are none of ours. Whoever shows only a token is taken by that token.
 */
export function principalOf(request: IncomingMessage, route: EnvironmentRoute, cookies: GrantCookies): Principal {
  const grant = cookies.read(request.headers.cookie, route);
  if (grant) return { kind: grant.share ? "shared" : "owner", grant };
  const shown = /^(?:token|bearer) +(.*)$/i.exec(request.headers.authorization ?? "")?.[1] ?? addressToken(request);
  if (shown === undefined) return { kind: "nobody" };
  return { kind: isSame(shown.trim(), route.secret) ? "token" : "wrong_token" };
}

/**
 * A page of another origin must not act with the cookie: SameSite does not help between siblings of one domain, and
 * JupyterLab skips its own check because we show it its token. Only opening the environment from elsewhere is allowed.
 */
export function isCrossSite(request: IncomingMessage, ownOrigin: string): boolean {
  const { origin } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const reads = request.method === "GET" || request.method === "HEAD";
  if (origin !== undefined && origin !== ownOrigin) return true;
  if (site === undefined || site === "same-origin" || site === "none") return false;
  return !(
    reads &&
    request.headers["sec-fetch-mode"] === "navigate" &&
    request.headers["sec-fetch-dest"] === "document"
  );
}

/** A person opening a page, as opposed to a page's or a script's own request. */
export function isNavigation(request: IncomingMessage): boolean {
  const mode = request.headers["sec-fetch-mode"];
  const reads = request.method === "GET" || request.method === "HEAD";
  return reads && (mode === undefined || mode === "navigate") && (request.headers.accept ?? "").includes("text/html");
}

/** Digests have one length, so the comparison tells nothing about the secret's. */
function isSame(shown: string, secret: string): boolean {
  return timingSafeEqual(createHash("sha256").update(shown).digest(), createHash("sha256").update(secret).digest());
}
