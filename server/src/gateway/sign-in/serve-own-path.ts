import type { IncomingMessage, ServerResponse } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { restartPath, sharePath, statePath, stopPath } from "../principal/reserved-names.ts";
import { crossSiteRefusal, missingRefusal, unavailableRefusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import { openShare } from "./open-share.ts";
import { restart } from "./restart.ts";
import { serveState } from "./serve-state.ts";
import { type SignInDeps, signIn, signInPath } from "./sign-in.ts";
import { stop } from "./stop.ts";

const handlers: Readonly<Record<string, typeof signIn>> = {
  [`GET ${signInPath}`]: signIn,
  [`GET ${sharePath}`]: openShare,
  [`POST ${sharePath}`]: openShare,
  [`POST ${restartPath}`]: restart,
  [`GET ${statePath}`]: serveState,
  [`POST ${stopPath}`]: stop,
};

/** A share link is for JupyterLab. */
const portHandlers: typeof handlers = {
  [`GET ${signInPath}`]: signIn,
  [`POST ${restartPath}`]: restart,
};

/**
 * Serves the gateway's own paths on an environment's host. No path under the prefix is ever forwarded. The app's `/open` sends
 * whoever may not open a name to one that is not here, for the page of a name without an environment.
 */
export function serveOwnPath(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
  port: number | undefined,
): void {
  const { method, headers, url = "" } = request;
  const handler = (port === undefined ? handlers : portHandlers)[`${method} ${url.split("?", 1)[0]}`];
  if (!handler) return void refuse(deps, request, response, missingRefusal(deps.appUrl));
  // CSRF check: a form's Origin is that of its page.
  if (method === "POST" && headers.origin !== deps.hosts.originOf(headers.host))
    return void refuse(deps, request, response, crossSiteRefusal);
  handler(deps, request, response, route, port).catch((error: unknown) => {
    deps.log.error({ event: "gateway.request_failed", err: error });
    if (response.headersSent) response.destroy();
    else refuse(deps, request, response, unavailableRefusal(url));
  });
}
