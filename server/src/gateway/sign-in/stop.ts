import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../../app-error.ts";
import { act } from "../../environments/api/environment-actions.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { limitBody } from "../../http/limit-body.ts";
import { plainRefusal, unauthenticatedRefusal } from "../refusals/refusals.ts";
import { ownFields, refuse } from "../refusals/refuse.ts";
import { ownerGrantOf } from "./owner-grant.ts";
import type { SignInDeps } from "./sign-in.ts";

/** Stops as the app does (G25), for the bar in JupyterLab (G394). Only for the owner's own cookie, like a restart. */
export async function stop(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
): Promise<void> {
  limitBody(request, response);
  if (!(await ownerGrantOf(deps, request.headers.cookie, route)))
    return refuse(deps, request, response, unauthenticatedRefusal(deps.appUrl, "Only its owner can stop it"));
  try {
    await act(deps.db, { id: route.id, userId: route.userId }, "stop");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const page = `${deps.appUrl}/environments/${route.id}`;
    return refuse(deps, request, response, plainRefusal(409, "action_not_allowed", error.message, "", page));
  }
  await deps.targets.refresh(route.id);
  response.writeHead(204, ownFields).end();
}
