import { createHash, randomBytes } from "node:crypto";
import { revokeShare, rotateSecret, shareEnvironment, signInCode } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { rotateSecret as drawSecret } from "../../environments/api/revoke-access.ts";
import { createShareLink, revokeShareLink as takeBack } from "../../environments/api/share-links.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import type { HostNames } from "../target/host-names.ts";
import { shareUrl } from "./open-share.ts";
import { signInPath } from "./sign-in.ts";

const codeSeconds = 30;

/**
 * The app's half of the hand-off: a code for the caller's own environment, by its id or its name, links for others
 * (G50), and a new password for scripts (G109).
 */
export function gatewayRoutes(app: FastifyInstance, parts: { readonly db: Db; readonly hosts: HostNames }): void {
  const { db } = parts;
  mount(app, signInCode, async ({ params, body, user }) => {
    if (!/^[a-z0-9-]{1,64}$/.test(params.id)) throw notFound();
    const environment = await db
      .selectFrom("environments")
      .select(["id", "subdomain"])
      .where("user_id", "=", user.id)
      .where((either) => either.or([either("id", "=", params.id), either("subdomain", "=", params.id)]))
      .orderBy(sql`status = 'terminated'`)
      .orderBy("requested_at", "desc")
      .executeTakeFirst();
    if (!environment) throw notFound();
    const code = randomBytes(32).toString("base64url");
    const row = await db
      .insertInto("sign_in_codes")
      .values({
        hash: createHash("sha256").update(code).digest(),
        user_id: user.id,
        environment_id: environment.id,
        auth_session: user.sessionId,
        visit: body.visit === undefined ? null : Buffer.from(body.visit, "base64url"),
        expires_at: sql<Date>`now() + ${codeSeconds} * interval '1 second'`,
      })
      .returning("expires_at")
      .executeTakeFirstOrThrow();
    await db.deleteFrom("sign_in_codes").where("expires_at", "<", sql<Date>`now() - interval '1 hour'`).execute();
    const url = `${parts.hosts.environmentUrl(environment.subdomain)}${signInPath}?${new URLSearchParams({ code, path: "/lab" })}`;
    return { status: "success" as const, code, url, expires_at: row.expires_at.toISOString() };
  });

  mount(app, shareEnvironment, async ({ params, body, user }) => {
    const { share, secret, subdomain } = await createShareLink(
      db,
      { id: params.id, userId: user.id },
      body.term,
      user.sessionId,
    );
    return { ...success, share, url: shareUrl(parts.hosts.environmentUrl(subdomain), secret) };
  });

  mount(app, revokeShare, async ({ params, user }) => {
    await takeBack(db, { id: params.id, userId: user.id }, params.share_id);
    return success;
  });

  mount(app, rotateSecret, async ({ params, user }) => ({
    ...success,
    jupyter_token: await drawSecret(db, { id: params.id, userId: user.id }, user.sessionId),
  }));
}
