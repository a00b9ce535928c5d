import type { IncomingMessage, ServerResponse } from "node:http";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { shareHash } from "../../environments/api/share-links.ts";
import { limitBody } from "../../http/limit-body.ts";
import type { Grant } from "../principal/grants.ts";
import { sharePath } from "../principal/reserved-names.ts";
import { endedShareRefusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import { availabilityOf } from "../target/availability.ts";
import { confirmShare } from "./confirm-share.ts";
import { readForm } from "./read-form.ts";
import { redirect } from "./redirect.ts";
import type { SignInDeps } from "./sign-in.ts";

const startPath = "/lab";

export function shareUrl(environmentUrl: string, secret: string): string {
  return `${environmentUrl}${sharePath}?${new URLSearchParams({ key: secret })}`;
}

/**
 * A share link (G50). GET shows a confirmation page, so that link previews and scanners create no grant. POST of its form,
 * from this host only, creates a grant bound to the link and redirects to a clean URL. Throws when the database is
 * unavailable.
 */
export async function openShare(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
): Promise<void> {
  limitBody(request, response);
  if (availabilityOf(route, deps.targets.nowMs()) === "ended")
    return refuse(deps, request, response, endedShareRefusal(deps.appUrl));
  if (request.method === "POST") return acceptShare(deps, request, response, route);
  // A browser that is signed in already (back button, second click) keeps its grant, the owner's included.
  if (deps.cookies.read(request.headers.cookie, route)) return redirect(response, startPath);
  const key = keyOf(new URL(request.url as string, "http://environment").searchParams);
  const owner = await ownerOf(deps.db, shareHash(key), route);
  if (owner === undefined) return refuse(deps, request, response, endedShareRefusal(deps.appUrl));
  confirmShare(request, response, { owner, key });
}

async function acceptShare(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
): Promise<void> {
  const { db, appUrl, targets, cookies } = deps;
  const grant = await exchangeLink(db, shareHash(keyOf(await readForm(request))), route);
  if (!grant) return refuse(deps, request, response, endedShareRefusal(appUrl));
  await targets.readGrant(grant.id);
  redirect(response, startPath, { "Set-Cookie": cookies.issue(grant) }, 303);
}

function keyOf(fields: URLSearchParams): string {
  return fields.get("key") ?? "";
}

const isOpenLink = (hash: Buffer, route: EnvironmentRoute) =>
  sql`s.hash = ${hash} and s.environment_id = ${route.id} and s.user_id = ${route.userId}
    and s.revoked_at is null and s.expires_at > now()`;

/** The owner's name; undefined for an invalid link. */
async function ownerOf(db: Db, hash: Buffer, route: EnvironmentRoute): Promise<string | undefined> {
  const { rows } = await sql<{ name: string | null }>`
    select p.name from share_links s left join profiles p on p.user_id = s.user_id where ${isOpenLink(hash, route)}`.execute(
    db,
  );
  const [found] = rows;
  return found && (found.name?.trim() || "The owner of this environment");
}

/** The update locks the link's row, so that a concurrent revocation either prevents the grant or ends it. */
function exchangeLink(db: Db, hash: Buffer, route: EnvironmentRoute): Promise<Grant | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; expires_at: Date }>`
      update share_links s set views = views + 1, last_viewed_at = now()
      where ${isOpenLink(hash, route)} returning id, expires_at`.execute(tx);
    const [link] = rows;
    if (!link) return undefined;
    const share = { id: link.id, expiresAtMs: link.expires_at.getTime() };
    const grant: Grant = { id: newId(), userId: route.userId, environmentId: route.id, share };
    await tx
      .insertInto("grants")
      .values({ id: grant.id, user_id: grant.userId, environment_id: grant.environmentId, share_id: link.id })
      .execute();
    return grant;
  });
}
