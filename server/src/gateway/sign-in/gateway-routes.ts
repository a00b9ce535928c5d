import { createHash, randomBytes } from "node:crypto";
import { portLabel, revokeShare, rotateSecret, shareEnvironment, signInCode } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { rotateSecret as replaceSecret } from "../../environments/api/revoke-access.ts";
import { createShareLink, revokeShareLink as takeBack } from "../../environments/api/share-links.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import type { User } from "../../http/request-user.ts";
import type { HostNames } from "../target/host-names.ts";
import { shareUrl } from "./open-share.ts";
import { signInPath, startPathOf } from "./sign-in.ts";

const codeSeconds = 30;

/**
 * The app's half of a sign-in: codes for the caller's own environment by id or subdomain, share links (G50), and rotation
 * of the environment secret (G109).
 */
export function gatewayRoutes(app: FastifyInstance, deps: { readonly db: Db; readonly hosts: HostNames }): void {
  const { db, hosts } = deps;
  mount(app, signInCode, async ({ params, body, user }) => {
    const environment = await findOwned(db, params.id, user.id);
    const { port, visit } = body;
    const { code, expiresAt } = await createCode(db, environment.id, user, { port, visit });
    const host = port === undefined ? environment.subdomain : portLabel(port, environment.subdomain);
    const query = new URLSearchParams({ code, path: startPathOf(port) });
    const url = `${hosts.environmentUrl(host)}${signInPath}?${query}`;
    return { status: "success" as const, code, url, expires_at: expiresAt.toISOString() };
  });

  mount(app, shareEnvironment, async ({ params, body, user }) => {
    const { share, secret, subdomain } = await createShareLink(
      db,
      { id: params.id, userId: user.id },
      body.term,
      user.sessionId,
    );
    return { ...success, share, url: shareUrl(hosts.environmentUrl(subdomain), secret) };
  });

  mount(app, revokeShare, async ({ params, user }) => {
    await takeBack(db, { id: params.id, userId: user.id }, params.share_id);
    return success;
  });

  mount(app, rotateSecret, async ({ params, user }) => ({
    ...success,
    jupyter_token: await replaceSecret(db, { id: params.id, userId: user.id }, user.sessionId),
  }));
}

/** By id or subdomain; a live environment takes precedence. Throws `not_found`. */
async function findOwned(db: Db, idOrName: string, userId: string) {
  if (!/^[a-z0-9-]{1,64}$/.test(idOrName)) throw notFound();
  const environment = await db
    .selectFrom("environments")
    .select(["id", "subdomain"])
    .where("user_id", "=", userId)
    .where((either) => either.or([either("id", "=", idOrName), either("subdomain", "=", idOrName)]))
    .orderBy(sql`status = 'terminated'`)
    .orderBy("requested_at", "desc")
    .executeTakeFirst();
  if (!environment) throw notFound();
  return environment;
}

interface CodeFor {
  readonly port: number | undefined;
  /** Base64url hash that binds the code to one browser. */
  readonly visit: string | undefined;
}

/** Only the code's hash is stored. */
async function createCode(db: Db, environmentId: string, user: User, { port, visit }: CodeFor) {
  const code = randomBytes(32).toString("base64url");
  const row = await db
    .insertInto("sign_in_codes")
    .values({
      hash: createHash("sha256").update(code).digest(),
      user_id: user.id,
      environment_id: environmentId,
      auth_session: user.sessionId,
      port: port ?? null,
      visit: visit === undefined ? null : Buffer.from(visit, "base64url"),
      expires_at: sql<Date>`now() + ${codeSeconds} * interval '1 second'`,
    })
    .returning("expires_at")
    .executeTakeFirstOrThrow();
  await db.deleteFrom("sign_in_codes").where("expires_at", "<", sql<Date>`now() - interval '1 hour'`).execute();
  return { code, expiresAt: row.expires_at };
}
