import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { Metrics } from "./create-metrics.ts";
import { followRows } from "./follow-rows.ts";

interface Booked {
  readonly id: string;
  readonly kind: string;
  readonly currency: string;
  /** What the provider holds grows by this; minor units. */
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

/** Returns a function that counts the ledger's new entries. */
export function followMoney(
  { money }: Pick<Metrics, "money">,
  currencies: readonly string[],
): (db: Db) => Promise<void> {
  for (const kind of Object.values(kinds)) for (const currency of currencies) money.inc({ kind, currency }, 0);
  const follow = followRows<Booked>(readBooked);
  return async (db) => {
    for (const { kind, currency, amount } of await follow(db))
      money.inc({ kind: kinds[kind] as string, currency }, Math.abs(amount));
  };
}

async function readBooked(db: Db, since: Date): Promise<readonly Booked[]> {
  const { rows } = await sql<Booked>`
    select j.id, j.kind, l.currency, l.amount_minor as amount
    from journal j join journal_lines l on l.entry_id = j.id and l.account = 'gateway'
    where j.at > ${since} and j.kind = any(${Object.keys(kinds)})`.execute(db);
  return rows;
}
