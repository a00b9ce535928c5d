import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { backoffMs } from "../../database/work-queue.ts";
import { DriverError } from "../../drivers/driver.ts";
import { eachHost, type Host, type HostDeps } from "./each-host.ts";

/** An image that an operator built or fetched is on every host a minute later; a pass without a missing image is cheap. */
const intervalMs = 60_000;

/** Without an engine a host prepares types itself; elsewhere images are built by a command, which their message names. */
export const isPreparedOnRequest = (kind: string): boolean => kind === "process";

/** Keeps every image ready on every host and records the progress: a launch normally does not wait for one. */
export function startPreparingImages(deps: ImagesDeps): Loop {
  const loop = eachHost("images", deps, intervalMs, (host) => prepareHost(deps, host));
  return {
    trigger: loop.trigger,
    // Does not wait for a download, which may take minutes; its progress is no longer reported.
    async stop() {
      void loop.stop();
    },
  };
}

interface ImagesDeps extends HostDeps {
  /** Ids of the types sold, the most launched first. */
  readonly types: readonly string[];
}

interface ImageDeps extends Host {
  readonly db: Db;
}

/**
 * One type after the other, for they are gigabytes. Without an engine all at once: few are fetched there, and whoever looks
 * meanwhile reads that the others are not here, instead of that they are being prepared.
 */
function prepareHost({ db, log, types }: ImagesDeps, host: Host): () => Promise<number> {
  const deps = { db, ...host };
  let failures = 0;
  return async () => {
    const errors: unknown[] = [];
    if (isPreparedOnRequest(host.driver.kind))
      errors.push(...(await Promise.all(types.map((type) => tryImage(deps, type)))).flat());
    else for (const type of types) errors.push(...(await tryImage(deps, type)));
    for (const err of errors) if (!host.signal.aborted) log.warn({ event: "image.not_prepared", hostId: host.id, err });
    failures = errors.length > 0 ? failures + 1 : 0;
    return failures > 0 ? backoffMs(failures) : intervalMs;
  };
}

/** Returns the failures. A host that will never have an image is none. */
async function tryImage(deps: ImageDeps, type: string): Promise<unknown[]> {
  if (deps.signal.aborted) return [];
  try {
    await prepareImage(deps, type);
    return [];
  } catch (error) {
    const absent = error instanceof DriverError && error.code === "no_image";
    const message = error instanceof DriverError ? error.message : "The image could not be prepared";
    await write(deps, type, { state: absent ? "unavailable" : "preparing", percent: null, message });
    return absent ? [] : [error];
  }
}

async function prepareImage(deps: ImageDeps, type: string): Promise<void> {
  await sql`
    insert into host_images (host_id, container_type, state) values (${deps.id}, ${type}, 'preparing')
    on conflict do nothing`.execute(deps.db);
  const { rows } = await sql<{ asked: boolean }>`
    select asked_at is not null as asked from host_images
    where host_id = ${deps.id} and container_type = ${type}`.execute(deps.db);
  let reported = -1;
  let writes: Promise<void> = Promise.resolve();
  const progress = (percent: number) => {
    const whole = Math.floor(percent);
    if (whole <= reported || whole >= 100) return;
    reported = whole;
    writes = writes.then(() => write(deps, type, { state: "preparing", percent: whole, message: "" }));
    // Awaited below; otherwise an earlier rejection would be unhandled.
    writes.catch(() => {});
  };
  await deps.driver.prepare(type, progress, { asked: rows[0]?.asked === true });
  await writes;
  await write(deps, type, { state: "ready", percent: null, message: "" });
}

interface Prepared {
  readonly state: "ready" | "preparing" | "unavailable";
  readonly percent: number | null;
  /** The reason, as text for the person who chooses a type. */
  readonly message: string;
}

async function write(
  { db, signal, id: host_id }: ImageDeps,
  container_type: string,
  prepared: Prepared,
): Promise<void> {
  if (signal.aborted) return;
  await db
    .insertInto("host_images")
    .values({ host_id, container_type, ...prepared })
    .onConflict((conflict) =>
      conflict.columns(["host_id", "container_type"]).doUpdateSet({ ...prepared, updated_at: sql`now()` }),
    )
    .execute();
}
