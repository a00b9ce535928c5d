import { hash as digest } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { isAuthSessionOpen } from "../../identity/local/auth-sessions.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { GrantCookies } from "../principal/grant-cookies.ts";
import type { Grant } from "../principal/grants.ts";
import { ownPrefix } from "../principal/reserved-names.ts";
import type { RefuseDeps } from "../refusals/note-refusal.ts";
import { spentCodeRefusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import type { HostNames } from "../target/host-names.ts";
import type { Targets } from "../target/targets.ts";
import type { ReadBarFacts } from "./bar-facts-cache.ts";
import { redirect } from "./redirect.ts";
import { beginVisit, isFor } from "./visit.ts";

export const signInPath = `${ownPrefix}sign-in`;

/** The page that opens without a path: JupyterLab's, or a program's first one. */
export function startPathOf(port: number | undefined): string {
  return port === undefined ? "/lab" : "/";
}

/** Dependencies of the gateway's own paths. */
export interface SignInDeps extends RefuseDeps {
  readonly db: Db;
  readonly appUrl: string;
  readonly hosts: Pick<HostNames, "secure" | "originOf">;
  readonly targets: Pick<Targets, "readGrant" | "nowMs" | "find" | "refresh">;
  readonly cookies: GrantCookies;
  readonly barFacts: ReadBarFacts;
  readonly log: Logger;
}

interface Place {
  readonly target: { readonly route: Pick<EnvironmentRoute, "subdomain"> };
  readonly port: number | undefined;
  readonly path: string;
}

/** Redirects a browser without a cookie to the app, which gets a code with its bearer token and redirects back to `path`. */
export function startSignIn(
  { appUrl, hosts }: Pick<SignInDeps, "appUrl" | "hosts">,
  request: IncomingMessage,
  response: ServerResponse,
  { target, port, path }: Place,
): void {
  const { hash, cookie } = beginVisit(request, hosts.secure);
  const query = new URLSearchParams({ environment: target.route.subdomain, path, visit: hash });
  if (port !== undefined) query.set("port", String(port));
  redirect(response, `${appUrl}/open?${query}`, { "Set-Cookie": cookie });
}

/**
 * Exchanges a code for a cookie, then redirects to a clean URL. A browser that the code is not bound to starts a sign-in
 * of its own (login CSRF): only the owner can complete it. Throws when the database is unavailable.
 */
export async function signIn(
  deps: SignInDeps,
  request: IncomingMessage,
  response: ServerResponse,
  route: EnvironmentRoute,
  port?: number,
): Promise<void> {
  const query = new URL(request.url as string, "http://environment").searchParams;
  const path = localPath(query.get("path"), port);
  const hash = digest("sha256", query.get("code") ?? "", "buffer");
  const code = await findCode(deps.db, hash, route, port);
  if (!code) {
    // Back button or reload in a browser that is signed in already.
    if (deps.cookies.read(request.headers.cookie, route, port)) return redirect(response, path);
    return refuse(deps, request, response, spentCodeRefusal);
  }
  if (!isFor(request, deps.hosts.secure, code.visit)) {
    // Clearing all cookies removed the visit cookie too: the used code records that the browser has been cleared.
    if (query.has("cleared")) await markUsed(deps.db, hash);
    return startSignIn(deps, request, response, { target: { route }, port, path });
  }
  if (!query.has("cleared")) {
    const directives = await dataToClear(deps.db, route, port);
    // A redirect of its own, because the order of clearing and setting cookies in one response is undefined.
    if (directives) return redirect(response, `${request.url}&cleared=1`, { "Clear-Site-Data": directives });
  }
  const grant = await exchangeCode(deps.db, hash, route, port);
  if (!grant) return refuse(deps, request, response, spentCodeRefusal);
  await deps.targets.readGrant(grant.id);
  redirect(response, path, { "Set-Cookie": deps.cookies.issue(grant) });
}

/** Prevents open redirects: returns a path on this host for any input. */
export function localPath(path: string | null, port?: number): string {
  const startPath = startPathOf(port);
  if (path === null || !/^\/(?![/\\])/.test(path)) return startPath;
  const url = new URL(path, "http://environment");
  if (url.host !== "environment" || url.pathname.startsWith("//") || url.pathname.startsWith(ownPrefix))
    return startPath;
  return url.pathname + url.search + url.hash;
}

function findCode(
  db: Db,
  hash: Buffer,
  route: EnvironmentRoute,
  port: number | undefined,
): Promise<{ readonly visit: Buffer | null } | undefined> {
  return db
    .selectFrom("sign_in_codes")
    .select("visit")
    .where("hash", "=", hash)
    .where("environment_id", "=", route.id)
    .where("user_id", "=", route.userId)
    .where("port", "is not distinct from", port ?? null)
    .where("used_at", "is", null)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
}

async function markUsed(db: Db, hash: Buffer): Promise<void> {
  await db.updateTable("sign_in_codes").set({ used_at: sql<Date>`now()` }).where("hash", "=", hash).execute();
}

/**
 * Clear-Site-Data on the first visit of a new environment, against data of the subdomain's former environment; each port's host
 * has its own (G387). Cookies of the whole domain are cleared only if another user had the name, because that signs out of
 * sibling environments too.
 */
async function dataToClear(db: Db, { id, subdomain, userId }: EnvironmentRoute, port: number | undefined) {
  const here = sql`environment_id = ${id} and port is not distinct from ${port ?? null}::integer`;
  const { rows } = await sql<{ visited: boolean; others: boolean }>`
    select exists (select from grants where ${here})
        or exists (select from sign_in_codes where ${here} and used_at is not null) as visited,
      exists (select from environments where subdomain = ${subdomain} and user_id <> ${userId}) as others`.execute(db);
  if (rows[0]?.visited) return undefined;
  return rows[0]?.others ? '"cookies", "storage"' : '"storage"';
}

/** Single use: of concurrent updates one wins. The code of a sign-in that has ended is invalid. */
function exchangeCode(db: Db, hash: Buffer, route: EnvironmentRoute, port?: number): Promise<Grant | undefined> {
  return db.transaction().execute(async (tx) => {
    const code = await tx
      .updateTable("sign_in_codes")
      .set({ used_at: sql<Date>`now()` })
      .where("hash", "=", hash)
      .where("environment_id", "=", route.id)
      .where("user_id", "=", route.userId)
      .where("port", "is not distinct from", port ?? null)
      .where("used_at", "is", null)
      .where("expires_at", ">", sql<Date>`now()`)
      .returning("auth_session")
      .executeTakeFirst();
    // The lock serializes with a concurrent sign-out, which ends only the grants that it sees.
    if (!code || !(await isAuthSessionOpen(tx, code.auth_session, { lock: true }))) return undefined;
    const grant: Grant = { id: newId(), userId: route.userId, environmentId: route.id, port };
    await tx
      .insertInto("grants")
      .values({
        id: grant.id,
        user_id: grant.userId,
        environment_id: grant.environmentId,
        port: port ?? null,
        auth_session: code.auth_session,
      })
      .execute();
    return grant;
  });
}
