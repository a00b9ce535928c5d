import type { IncomingMessage, ServerResponse } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { sharePath } from "../principal/reserved-names.ts";
import { crossSiteRefusal, missingRefusal, unavailableRefusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import { openShare } from "./open-share.ts";
import { type SignInDeps, signIn, signInPath } from "./sign-in.ts";

const handlers: Readonly<Record<string, typeof signIn>> = {
  [`GET ${signInPath}`]: signIn,
  [`GET ${sharePath}`]: openShare,
  [`POST ${sharePath}`]: openShare,
};

/** Serves the gateway's own paths on an environment's host. No path under the prefix is ever forwarded. */
export function serveOwnPath(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
): void {
  const { method, headers, url = "" } = request;
  const handler = handlers[`${method} ${url.split("?", 1)[0]}`];
  if (!handler) return void refuse(request, response, missingRefusal(deps.appUrl));
  // CSRF check: a form's Origin is that of its page.
  if (method === "POST" && headers.origin !== deps.hosts.originOf(headers.host))
    return void refuse(request, response, crossSiteRefusal);
  handler(deps, request, response, route).catch((error: unknown) => {
    deps.log.error({ event: "gateway.request_failed", err: error });
    if (response.headersSent) response.destroy();
    else refuse(request, response, unavailableRefusal(url));
  });
}
