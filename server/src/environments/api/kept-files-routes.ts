import { Readable } from "node:stream";
import { archiveLink, deleteFiles, giveFree, listFiles } from "@berth/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import { formerNamesOf, giveNameFree } from "../allocation/former-names.ts";
import { createArchiveCode, deleteFilesNow, keptFilesOf, useArchiveCode } from "../homes/kept-files.ts";

interface KeptFilesDeps {
  readonly db: Db;
  readonly changes: Changes;
  readonly drivers: ReadonlyMap<string, Driver>;
}

/** Each packs on a thread that the sign-ins of others may be waiting for. */
const downloadsPerUser = 2;
/** Timeout of a download without progress. */
const stalledMs = 60_000;

/** Files that outlive an environment (G31) and their download: by a link, so that gigabytes go to disk and not through a page. */
export function keptFilesRoutes(app: FastifyInstance, { db, changes, drivers }: KeptFilesDeps): void {
  const open = new Map<string, number>();

  mount(app, listFiles, async ({ user }) => ({
    ...success,
    files: await keptFilesOf(db, user.id),
    names: await formerNamesOf(db, user.id),
  }));

  mount(app, giveFree, async ({ params, user }) => {
    await giveNameFree(db, params.name, user.id);
    return success;
  });

  mount(app, deleteFiles, async ({ params, body, user }) => {
    await deleteFilesNow(db, { id: params.id, userId: user.id }, body.confirm);
    return success;
  });

  mount(app, archiveLink, async ({ params, user }) => {
    if ((open.get(user.id) ?? 0) >= downloadsPerUser)
      throw new AppError("rate_limited", `${downloadsPerUser} downloads of yours are under way. Wait until one ends.`, {
        retryAfterSeconds: 30,
      });
    const { code, expiresAt } = await createArchiveCode(db, { id: params.id, userId: user.id });
    return { ...success, url: `/archives/${code}`, expires_at: expiresAt.toISOString() };
  });

  const options = { config: { auth: "none" as const }, exposeHeadRoute: false };
  app.get<{ Params: { code: string } }>("/archives/:code", options, async (request, reply) => {
    const files = await useArchiveCode(db, request.params.code);
    if (!files) throw notFound();
    const driver = drivers.get(files.host_id);
    const count = open.get(files.user_id) ?? 0;
    if (!driver || count >= downloadsPerUser) throw unavailable();
    open.set(files.user_id, count + 1);
    const ending = new AbortController();
    // A new password ends a running download too (G109).
    const unsubscribe = changes.subscribeUser(files.user_id, ({ kind }) => {
      if (kind === "rights") reply.raw.destroy();
    });
    // On every end: complete, aborted, timed out or never begun.
    reply.raw.once("close", () => {
      ending.abort();
      unsubscribe();
      const left = (open.get(files.user_id) ?? 1) - 1;
      if (left > 0) open.set(files.user_id, left);
      else open.delete(files.user_id);
    });
    return sendArchive(reply, files.subdomain, driver.archive(files.home, ending.signal));
  });
}

function sendArchive(reply: FastifyReply, name: string, archive: AsyncIterable<Uint8Array>): FastifyReply {
  reply.raw.setTimeout(stalledMs, () => reply.raw.destroy());
  return reply
    .headers({
      "content-type": "application/gzip",
      "content-disposition": `attachment; filename="${name}.tar.gz"`,
      "cache-control": "no-store",
      connection: "close",
    })
    .send(Readable.from(archive, { objectMode: false }));
}

function unavailable(): AppError {
  return new AppError("unavailable", "These files cannot be read right now. Try again in a moment.", {
    retryAfterSeconds: 10,
  });
}
