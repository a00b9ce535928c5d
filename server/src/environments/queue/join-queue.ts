import { plural, reservationMinutes, type UserQueueEntry } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Sql, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { freeTimes, shortageText, slotTimes } from "../leases/free-times.ts";
import { expectedTimes, type Slot } from "./expected-times.ts";
import { closeEntry, lockQueue, serveQueue } from "./serve-queue.ts";

/** Throws where an order for so many GPUs would be refused. Payments provides it. */
export type MayOrder = (tx: Tx, userId: string, gpuCount: number) => Promise<void>;

/**
 * Adds a user to the end of the queue, or keeps the entry that is there; another count is a new entry. Where enough GPUs
 * are free they are reserved at once. Throws `out_of_stock` where no reachable host is that large, and what `mayOrder`
 * throws: nobody waits for what they could not order. The queue is served in a second transaction, because locking it
 * twice in one could lock an earlier entry after a later one; after a crash in between the processor serves it.
 */
export async function enterQueue(db: Db, userId: string, gpuCount: number, mayOrder: MayOrder): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await mayOrder(tx, userId, gpuCount);
    const own = (await lockQueue(tx)).filter((each) => each.userId === userId);
    if (own.some((each) => each.gpuCount === gpuCount && !each.lapsed)) return;
    if (!(await freeTimes(tx)).some((time) => time.gpuCount === gpuCount))
      throw new AppError("out_of_stock", await shortageText(tx, gpuCount, null));
    for (const { id } of own) await closeEntry(tx, id, "left");
    await tx
      .insertInto("queue_entries")
      .values({ id: newId(), user_id: userId, gpu_count: gpuCount })
      // One of two concurrent calls wins; an account that is being deleted gets no entry.
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  await db.transaction().execute(async (tx) => void (await serveQueue(tx, await lockQueue(tx))));
}

/** Closes the user's entry, and hides a reservation that lapsed. */
export async function exitQueue(tx: Tx, userId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from queue_entries where user_id = ${userId} and status in ('waiting', 'held') for update`.execute(tx);
  for (const { id } of rows) await closeEntry(tx, id, "left");
  await sql`update queue_entries set status = 'left' where user_id = ${userId} and status = 'lapsed'`.execute(tx);
}

interface LatestEntry {
  readonly id: string;
  readonly gpu_count: number;
  readonly status: "waiting" | "held" | "lapsed";
  readonly asked_at: Date;
  readonly held_until: Date | null;
}

/** How long a lapsed reservation is still shown. */
const lapsedHours = 12;

/** The queue as a user sees it; null when they do not wait. */
export async function queuePositionOf(db: Sql, userId: string): Promise<UserQueueEntry | null> {
  const { rows } = await sql<LatestEntry>`
    select * from (
      select id, gpu_count, status, asked_at, held_until, closed_at from queue_entries
      where user_id = ${userId} order by place desc limit 1) latest
    where status in ('waiting', 'held')
      or (status = 'lapsed' and closed_at > now() - make_interval(hours => ${lapsedHours}))`.execute(db);
  const entry = rows[0];
  if (!entry) return null;
  const { position, expectedAt } = entry.status === "waiting" ? await forecastOf(db, entry.id) : noForecast;
  return {
    gpu_count: entry.gpu_count,
    state: entry.status,
    asked_at: entry.asked_at.toISOString(),
    position,
    expected_at: expectedAt?.toISOString() ?? null,
    held_until: entry.status === "held" ? (entry.held_until?.toISOString() ?? null) : null,
  };
}

const noForecast = { position: 0, expectedAt: undefined };

async function forecastOf(db: Sql, id: string) {
  const { rows: queue } = await sql<{ id: string; gpuCount: number }>`
    select id, gpu_count as "gpuCount" from queue_entries where status = 'waiting' order by place`.execute(db);
  const { rows: slots } = await sql<Slot>`
    select host_id || ' ' || node as machine, free_at as "freeAt" from (${slotTimes}) slots order by free_at`.execute(
    db,
  );
  const index = queue.findIndex((each) => each.id === id);
  const counts = queue.slice(0, index + 1).map(({ gpuCount }) => gpuCount);
  return { position: index + 1, expectedAt: expectedTimes(slots, counts).at(-1) };
}

const purgeAfterDays = 30;

/** Deletes entries that were closed long ago. */
export async function purgeQueue(db: Db): Promise<void> {
  await sql`delete from queue_entries where closed_at < now() - make_interval(days => ${purgeAfterDays})`.execute(db);
}

/** The title of the notice of a reservation. */
export function reservationTitle(gpuCount: number): string {
  return `${plural(gpuCount, "GPU is", "GPUs are")} held for you for ${reservationMinutes} minutes`;
}

/** The body of the notice of one that lapsed. */
export function lapsedText(gpuCount: number): string {
  const one = gpuCount === 1;
  const what = plural(gpuCount, "GPU was", "GPUs were");
  return `${what} held for you for ${reservationMinutes} minutes. Nothing was launched, so ${one ? "it" : "they"} went to the next in line. You can wait again, from its end.`;
}
