import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { Metrics } from "./create-metrics.ts";
import { followRows } from "./follow-rows.ts";

interface Booked {
  readonly id: string;
  readonly kind: string;
  readonly currency: string;
  /** By how much what the provider holds changes; minor units. */
  readonly amount: number;
}

/** The kinds of the metric by those of the ledger (docs/internals/money.md). */
const kinds: Readonly<Record<string, string>> = {
  capture: "paid",
  refund_arrived: "refunded",
  external_refund: "refunded",
  dispute_lost: "lost",
  fee: "fees",
};

/**
 * Returns a function that counts the ledger's entries: all of them at its first call, then the new ones. So every worker has
 * the same figure, and a sale from before the first scrape is in it.
 */
export function followMoney(
  { money }: Pick<Metrics, "money">,
  currencies: readonly string[],
): (db: Db) => Promise<void> {
  for (const kind of Object.values(kinds)) for (const currency of currencies) money.inc({ kind, currency }, 0);
  let follow: ((db: Db) => Promise<readonly Booked[]>) | undefined;
  return async (db) => {
    const began = follow ?? followRows<Booked>(readBooked);
    const booked = follow ? await follow(db) : await readAll(db, began);
    for (const { kind, currency, amount } of booked) money.inc({ kind: kinds[kind] as string, currency }, amount);
    follow = began;
  };
}

/** What is booked so far, in the same snapshot as what is followed from. */
async function readAll(db: Db, follow: (db: Db) => Promise<unknown>): Promise<readonly Omit<Booked, "id">[]> {
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      await follow(tx);
      const { rows } = await sql<Omit<Booked, "id">>`
        select j.kind, l.currency, sum(abs(l.amount_minor))::float8 as amount
        from journal j join journal_lines l on l.entry_id = j.id and l.account = 'gateway'
        where j.kind = any(${Object.keys(kinds)}) group by j.kind, l.currency`.execute(tx);
      return rows;
    });
}

async function readBooked(db: Db, since: Date): Promise<readonly Booked[]> {
  const { rows } = await sql<Booked>`
    select j.id, j.kind, l.currency, abs(l.amount_minor) as amount
    from journal j join journal_lines l on l.entry_id = j.id and l.account = 'gateway'
    where j.at > ${since} and j.kind = any(${Object.keys(kinds)})`.execute(db);
  return rows;
}
