import { containerTypes } from "@berth/contract";
import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import { backoffMs } from "../backoff-ms.ts";
import { dropRepeated, eachHost, type Host, type HostDeps } from "./each-host.ts";

/** What an operator has built or fetched meanwhile is on every host a minute later; a look where nothing is missing is cheap. */
const intervalMs = 60_000;

/** Keeps every image startable on every host and says how far that is: a launch normally does not wait. */
export function startPreparingImages(parts: HostDeps): Loop {
  const loop = eachHost(parts, intervalMs, (host) => prepareHost(parts, host));
  return {
    nudge: loop.nudge,
    // A download may take minutes and nothing waits for it: from here on it only goes unreported.
    async stop() {
      void loop.stop();
    },
  };
}

interface ImageDeps extends Host {
  readonly db: Db;
}

/** One type after the other; the first is the one that everybody launches first. */
function prepareHost({ db, failed }: HostDeps, host: Host): () => Promise<number> {
  const parts = { db, ...host };
  const tell = dropRepeated((error) => host.signal.aborted || failed(error));
  let failures = 0;
  return async () => {
    const errors: unknown[] = [];
    for (const type of containerTypes) errors.push(...(await tryImage(parts, type)));
    tell(errors);
    failures = errors.length > 0 ? failures + 1 : 0;
    return failures > 0 ? backoffMs(failures) : intervalMs;
  };
}

/** Answers what failed; that a host will never have an image is no failure. */
async function tryImage(parts: ImageDeps, type: string): Promise<unknown[]> {
  if (parts.signal.aborted) return [];
  try {
    await prepareImage(parts, type);
    return [];
  } catch (error) {
    const absent = error instanceof DriverError && error.code === "no_image";
    const message = error instanceof DriverError ? error.message : "The image could not be prepared";
    await write(parts, type, { state: absent ? "unavailable" : "preparing", percent: null, message });
    return absent ? [] : [error];
  }
}

async function prepareImage(parts: ImageDeps, type: string): Promise<void> {
  await sql`
    insert into host_images (host_id, container_type, state) values (${parts.id}, ${type}, 'preparing')
    on conflict do nothing`.execute(parts.db);
  let told = -1;
  let writes: Promise<void> = Promise.resolve();
  await parts.driver.prepare(type, (percent) => {
    const whole = Math.floor(percent);
    if (whole <= told || whole >= 100) return;
    told = whole;
    writes = writes.then(() => write(parts, type, { state: "preparing", percent: whole, message: "" }));
    // Awaited below; without this an error that comes before that would count as unhandled.
    writes.catch(() => {});
  });
  await writes;
  await write(parts, type, { state: "ready", percent: null, message: "" });
}

interface Prepared {
  readonly state: "ready" | "preparing" | "unavailable";
  readonly percent: number | null;
  /** Why, in words for the person who chooses a type. */
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
