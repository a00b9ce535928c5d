import type { IncomingMessage, ServerResponse } from "node:http";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { shareHash } from "../../environments/api/share-links.ts";
import { limitBody } from "../../http/limit-body.ts";
import type { GrantCookies } from "../principal/grant-cookies.ts";
import type { Grant } from "../principal/grants.ts";
import { sharePath } from "../principal/reserved-names.ts";
import { endedShareRefusal } from "../refusals/refusals.ts";
import { confirmShare, redirect, refuse } from "../refusals/refuse.ts";
import type { Targets } from "../target/targets.ts";

const start = "/lab";
/** Of the form that confirms: a key and nothing else. */
const mostBody = 1024;

interface Parts {
  readonly db: Db;
  readonly appUrl: string;
  readonly targets: Pick<Targets, "lookForGrant">;
  readonly cookies: GrantCookies;
}

export function shareUrl(environmentUrl: string, secret: string): string {
  return `${environmentUrl}${sharePath}?${new URLSearchParams({ key: secret })}`;
}

/**
 * A share link (G50). Looking at it only says whose environment it leads to, so that whatever looks at links before
 * people do lets nobody in; what counts is the form's POST, from this very host. It makes a cookie bound to the link and
 * leads to a clean address. Throws when the database does not answer.
 */
export async function openShare(
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
  parts: Parts,
): Promise<void> {
  limitBody(request, response);
  const posted = request.method === "POST";
  const text = posted ? await bodyOf(request) : new URL(request.url as string, "http://environment").search;
  const key = new URLSearchParams(text).get("key") ?? "";
  const hash = shareHash(key);
  // Back, or opened again: whoever is in already just goes on, the owner as the owner.
  if (!posted && parts.cookies.read(request.headers.cookie, route)) return redirect(response, start);
  if (posted) {
    const grant = await exchange(parts.db, hash, route);
    if (!grant) return refuse(request, response, endedShareRefusal(parts.appUrl));
    await parts.targets.lookForGrant(grant.id);
    return redirect(response, start, { "Set-Cookie": parts.cookies.issue(grant) }, 303);
  }
  const owner = await ownerOf(parts.db, hash, route);
  if (owner === undefined) return refuse(request, response, endedShareRefusal(parts.appUrl));
  confirmShare(request, response, { owner, key });
}

const works = (hash: Buffer, route: EnvironmentRoute) =>
  sql`s.hash = ${hash} and s.environment_id = ${route.id} and s.user_id = ${route.userId}
    and s.revoked_at is null and s.expires_at > now()`;

/** The name of who shares; undefined for a link that does not work. */
async function ownerOf(db: Db, hash: Buffer, route: EnvironmentRoute): Promise<string | undefined> {
  const { rows } = await sql<{ name: string | null }>`
    select p.name from share_links s left join profiles p on p.user_id = s.user_id where ${works(hash, route)}`.execute(
    db,
  );
  const [found] = rows;
  return found && (found.name?.trim() || "The owner of this environment");
}

/** Counted with the cookie it makes. The link's row is locked: a revocation comes before, and is seen, or after, and ends this. */
function exchange(db: Db, hash: Buffer, route: EnvironmentRoute): Promise<Grant | undefined> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string; expires_at: Date }>`
      update share_links s set views = views + 1, last_viewed_at = now()
      where ${works(hash, route)} returning id, expires_at`.execute(tx);
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

/** A browser says how long its form is; what is longer than a key, or does not say, is not read. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  if (!(Number(request.headers["content-length"]) <= mostBody)) return "";
  let text = "";
  for await (const chunk of request.setEncoding("latin1")) text += chunk;
  return text;
}
