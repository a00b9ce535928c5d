/** Name of the grant cookie, with or without TLS (G90). */
export const cookieName = (secure: boolean) => (secure ? "__Host-env" : "env");

/** Name of the cookie with the random value of a sign-in in progress. */
export const visitCookieName = (secure: boolean) => `${cookieName(secure)}-visit`;

/** In lower case: browsers compare the prefix case-insensitively. */
export const cookieNames: ReadonlySet<string> = new Set(["env", "__host-env", "env-visit", "__host-env-visit"]);

/** Paths under this prefix belong to the gateway on every environment's host and are never forwarded. */
export const ownPrefix = "/_berth/";

/** Path of a share link (G50); its secret is the query parameter `key`. */
export const sharePath = `${ownPrefix}share`;

/** The form of the pages "stopped" and "paused" posts here; its field is the `path` to go on to. */
export const restartPath = `${ownPrefix}restart`;

/** SSH in a WebSocket (G406). */
export const sshPath = `${ownPrefix}ssh`;

/** What the bar in JupyterLab asks for (G392), and where its Stop posts to (G394). */
export const statePath = `${ownPrefix}state`;
export const stopPath = `${ownPrefix}stop`;
