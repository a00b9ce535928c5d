import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../../app-error.ts";
import { act } from "../../environments/api/environment-actions.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { limitBody } from "../../http/limit-body.ts";
import { restartRefusal, unauthenticatedRefusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import { availabilityOf } from "../target/availability.ts";
import { ownerGrantOf } from "./owner-grant.ts";
import { readForm } from "./read-form.ts";
import { redirect } from "./redirect.ts";
import { localPath, type SignInDeps } from "./sign-in.ts";

/**
 * The form of the pages "stopped" and "paused": restarts as the app does, then goes on to the requested path, which shows the
 * progress and opens. Only for the owner's own cookie; the caller has compared the form's origin. Throws when the database is
 * unavailable.
 */
export async function restart(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
  port?: number,
): Promise<void> {
  limitBody(request, response);
  const path = localPath((await readForm(request)).get("path"), port);
  if (!(await ownerGrantOf(deps, request.headers.cookie, route, port)))
    return refuse(deps, request, response, unauthenticatedRefusal(deps.appUrl, "Only its owner can restart it"));
  try {
    await act(deps.db, { id: route.id, userId: route.userId }, "restart");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (await isStopped(deps, route))
      return refuse(deps, request, response, restartRefusal(`${deps.appUrl}/environments/${route.id}`, error.message));
  }
  await deps.targets.refresh(route.id);
  redirect(response, path, {}, 303);
}

/** Not where it was restarted elsewhere meanwhile, as by a second click. */
async function isStopped({ targets }: SignInDeps, { id, subdomain }: EnvironmentRoute): Promise<boolean> {
  await targets.refresh(id);
  const now = targets.find(subdomain)?.route;
  return now !== undefined && ["stopped", "paused"].includes(availabilityOf(now, targets.nowMs()));
}
