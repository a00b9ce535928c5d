/** Our cookie's name, by whether the browser speaks TLS to us (G90). */
export const cookieName = (secure: boolean) => (secure ? "__Host-env" : "env");

/** Of the cookie that a browser sets out with for a code. */
export const visitCookieName = (secure: boolean) => `${cookieName(secure)}-visit`;

/** In lower case: browsers treat the prefix that way. */
export const cookieNames: ReadonlySet<string> = new Set(["env", "__host-env", "env-visit", "__host-env-visit"]);

/** Paths under it are the gateway's own on every environment's host, never forwarded. */
export const ownPrefix = "/_berth/";

/** What a share link leads to (G50); its secret is the query's `key`. */
export const sharePath = `${ownPrefix}share`;
