import { addSshKey as addSshKeyCall, listSshKeys, removeSshKey, type SshKey } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db, RowOf } from "../../database/database.ts";
import type { Announce } from "../../environments/notice.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import { addSshKey } from "./add-ssh-key.ts";

/** The public SSH keys of an account (G410). */
export function sshKeyRoutes(app: FastifyInstance, deps: { readonly db: Db; readonly announce: Announce }): void {
  const { db } = deps;
  mount(app, listSshKeys, async ({ user }) => {
    const rows = await db
      .selectFrom("ssh_keys")
      .selectAll()
      .where("user_id", "=", user.id)
      .orderBy("created_at", "desc")
      .orderBy("id")
      .execute();
    return { ...success, ssh_keys: rows.map(onWire) };
  });

  mount(app, addSshKeyCall, async ({ user, body }) => {
    const { id: userId, sessionId } = user;
    const row = await addSshKey(deps, { userId, sessionId, name: body.name, text: body.public_key });
    return { ...success, ssh_key: onWire(row) };
  });

  mount(app, removeSshKey, async ({ user, params }) => {
    const removed = await db
      .deleteFrom("ssh_keys")
      .where("id", "=", params.key_id)
      .where("user_id", "=", user.id)
      .executeTakeFirst();
    if (removed.numDeletedRows === 0n) throw notFound();
    return success;
  });
}

function onWire({ id, name, type, fingerprint, created_at, last_used_at }: RowOf<"ssh_keys">): SshKey {
  return {
    ...{ id, name, type, fingerprint },
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}
