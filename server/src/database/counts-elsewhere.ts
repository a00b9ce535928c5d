import { sql } from "kysely";
import type { Database } from "./database.ts";
import { newId } from "./new-id.ts";

/** What other processes have open, so that a limit of connections holds over all of them (G178). */
export interface CountsElsewhere {
  /** The sum of what the other processes announced last. */
  of(key: string): number;
  /**
   * Announces what this process has open; called about every half second, with what matters to a limit. The same process is
   * forgotten by the others three seconds after its last announcement. Never throws: while the database does not answer, each
   * process counts alone.
   */
  announce(counts: readonly (readonly [key: string, count: number])[]): Promise<void>;
}

/** Of a process on its own. */
export const nothingElsewhere: CountsElsewhere = { of: () => 0, announce: async () => {} };

const forgetAfterMs = 3000;
/** A notification has at most 8,000 bytes; a key is an id or the network of an address, below 40. */
const mostCounts = 150;

/** Opens a channel of announcements. They are notifications: nothing is stored, and nothing is left of a process that dies. */
export async function openCountsElsewhere(
  { db, listen }: Pick<Database, "db" | "listen">,
  channel: string,
): Promise<CountsElsewhere> {
  const self = newId();
  const heard = new Map<string, { readonly counts: ReadonlyMap<string, number>; readonly atMs: number }>();
  const sums = new Map<string, number>();
  let isSilent = true;

  function addUp(): void {
    const nowMs = performance.now();
    sums.clear();
    for (const [from, { counts, atMs }] of heard) {
      if (nowMs - atMs > forgetAfterMs) heard.delete(from);
      else for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
    }
  }

  await listen(channel, (payload) => {
    const announced = readAnnouncement(payload);
    if (!announced || announced.from === self) return;
    heard.set(announced.from, { counts: announced.counts, atMs: performance.now() });
    addUp();
  });

  return {
    of: (key) => sums.get(key) ?? 0,
    async announce(counts) {
      if (heard.size > 0) addUp();
      // Once more when there is nothing left.
      if (counts.length === 0 && isSilent) return;
      isSilent = counts.length === 0;
      await sql`select pg_notify(${channel}, ${announcementOf(self, counts)})`.execute(db).catch(() => {});
    },
  };
}

/** The largest counts, as far as they fit. */
function announcementOf(from: string, counts: readonly (readonly [string, number])[]): string {
  const largest = counts.toSorted(([, one], [, other]) => other - one);
  return JSON.stringify({ from, counts: largest.slice(0, mostCounts) });
}

/** Undefined for what no process of ours sends. */
function readAnnouncement(payload: string): { from: string; counts: ReadonlyMap<string, number> } | undefined {
  try {
    const { from, counts } = JSON.parse(payload);
    return { from: String(from), counts: new Map(counts) };
  } catch {
    return undefined;
  }
}
