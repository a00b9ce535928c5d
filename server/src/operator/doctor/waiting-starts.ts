import type { WaitReason } from "@berth/contract";
import { plural } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

const texts: Readonly<Record<WaitReason, string>> = {
  room: "for room on a machine",
  machine: "for a machine that is being added",
  image: "for an image",
  volume: "for storage",
  host: "for a machine that does not do its part",
};

interface Row {
  readonly waits_for: WaitReason;
  readonly count: number;
  /** The machine's own words, of one of them. */
  readonly error: string | null;
}

/** What starts wait for now (G198). No fault by itself: most come through, and the others are refunded. */
export async function waitingStarts(db: Db): Promise<string[]> {
  const { rows } = await sql<Row>`
    select waits_for, count(*)::int as count, max(last_error) as error from environments
    where status = 'pending' and waits_for is not null group by waits_for order by waits_for`.execute(db);
  return rows.map(({ waits_for, count, error }) => {
    const who = plural(count, "start waits", "starts wait");
    return `${who} ${texts[waits_for]}${error ? `: ${error}` : ""}.`;
  });
}
