import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";
import { testCards } from "./cards.ts";

export interface Outcome {
  readonly name: string;
  readonly label: string;
}

type Failure = NonNullable<(typeof testCards)[number]["fails"]>;

const failures = new Map<string, Failure>();
for (const { fails } of testCards) if (fails) failures.set(`failure_${fails.reason}`, fails);

/**
 * All outcomes of an order, with their labels. Those of the payment and the API happen once; those of webhooks and refunds
 * last until another is chosen.
 */
export const outcomes = {
  "The payment": [
    { name: "success", label: "Does what the card does: nothing special" },
    ...[...failures].map(([name, { reason }]) => ({ name, label: `Fails with ${reason}` })),
    { name: "dismissed", label: "Is not made: the dialog closes" },
    { name: "dismissed_paid", label: "Is made, though the dialog closes" },
    { name: "authorised_late", label: "Fails, and is authorised 20 seconds later" },
    { name: "captured_twice", label: "Is captured twice" },
  ],
  Webhooks: [
    { name: "webhook_delayed", label: "Come 20 seconds late" },
    { name: "webhook_lost", label: "Never come" },
    { name: "webhook_tripled", label: "Come three times" },
    { name: "webhook_reordered", label: "Come in the wrong order" },
  ],
  "The next API call about this order": [
    { name: "api_dropped", label: "Does its work, and its answer is lost" },
    { name: "api_500", label: "Answers 500" },
    { name: "api_429", label: "Answers 429" },
    { name: "api_hang", label: "Hangs for 15 seconds" },
  ],
  Refunds: [
    { name: "refund_pending", label: "Stay pending for a day" },
    { name: "refund_failed", label: "Fail on their way to the bank" },
    { name: "refund_refused", label: "Are refused: the balance is too low" },
    { name: "refund_busy", label: "Get a 409 at the first try: still in progress" },
  ],
} as const satisfies Readonly<Record<string, readonly Outcome[]>>;

/** A label continues the sentence of its heading. */
const sentences = new Map<string, string>();
for (const [heading, list] of Object.entries(outcomes))
  for (const { name, label } of list) sentences.set(name, `${heading} ${label[0]?.toLowerCase()}${label.slice(1)}.`);
export const outcomeNames: readonly string[] = [...sentences.keys()];
/** Delay of the bank or of a webhook. */
export const lateMs = 20_000;
export const reorderedMs = 5000;

export function outcomeSentence(name: string | null): string | undefined {
  return sentences.get(name ?? "");
}

/** The provider's reason code and description of a chosen failure. */
export function failureOf(name: string | null): Failure | undefined {
  return failures.get(name ?? "");
}

/** Returns false for an unknown order. */
export async function chooseOutcome(db: Sql, orderId: string, outcome: string): Promise<boolean> {
  const query = db.updateTable("embedded_gateway_orders").set({ outcome: outcome === "success" ? null : outcome });
  return (await query.where("id", "=", orderId).returning("id").executeTakeFirst()) !== undefined;
}

/** Reads the chosen outcome; `id` is the order's or one of its payments'. */
export async function outcomeOf(tx: Tx, id: string): Promise<string | null> {
  const { rows } = await sql<{ outcome: string | null }>`
    select outcome from embedded_gateway_orders
    where id = ${id} or id = (select order_id from embedded_gateway_payments where id = ${id})`.execute(tx);
  return rows[0]?.outcome ?? null;
}

/** Reads the outcome if it is one of `names`, and resets it. */
export async function takeOutcome(db: Sql, id: string, names: readonly string[]): Promise<string | undefined> {
  const { rows } = await sql<{ outcome: string }>`
    update embedded_gateway_orders o set outcome = null from (
      select id, outcome from embedded_gateway_orders
      where (id = ${id} or id = (select order_id from embedded_gateway_payments where id = ${id}))
        and outcome = any(${[...names]}) for update) chosen
    where o.id = chosen.id returning chosen.outcome`.execute(db);
  return rows[0]?.outcome;
}
