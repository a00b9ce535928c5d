import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db, Tx } from "../../database/database.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { paymentEntity } from "./entities.ts";
import { type Faults, happens } from "./faults.ts";
import { lateMs, outcomeOf, reorderedMs } from "./outcomes.ts";

type Entity = Readonly<Record<string, unknown>>;

interface Event {
  readonly event: string;
  /** By name, such as `payment` and `order`. */
  readonly entities: Readonly<Record<string, Entity>>;
  /** Told no sooner than that. */
  readonly notBefore?: Date;
}

/** Joins the transaction of what it tells. */
export async function queueWebhook(tx: Tx, { event, entities, notBefore = new Date() }: Event): Promise<void> {
  const outcome = await outcomeOf(tx, String(entities["payment"]?.["order_id"]));
  if (outcome === "webhook_lost") return;
  const lateBy = outcome === "webhook_delayed" ? lateMs : outcome === "webhook_reordered" ? reorderMs(event) : 0;
  const body = JSON.stringify({
    entity: "event",
    account_id: "acc_embedded",
    event,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at: Math.floor(Date.now() / 1000),
  });
  const row = {
    id: `event_${randomBytes(9).toString("hex")}`,
    body,
    times: outcome === "webhook_tripled" ? 3 : 1,
    ...((lateBy > 0 || notBefore > new Date()) && { next_try_at: new Date(notBefore.getTime() + lateBy) }),
  };
  await tx.insertInto("embedded_gateway_webhooks").values(row).execute();
}

/** What happens first is told last. */
function reorderMs(event: string): number {
  return event.startsWith("payment.") || event === "refund.created" ? reorderedMs : 0;
}

interface Receiver {
  readonly db: Db;
  readonly url: string;
  readonly secret: string;
  readonly faults: Faults;
  readonly log: Logger;
}

const intervalMs = 1000;
const timeoutMs = 5000;
const longestDelayMs = 10_000;
/** As the real one: told again for a day, then given up. */
const giveUpHours = 24;

/** Sends what is to be told, signed, at least once and in no certain order. */
export function startWebhookSender(receiver: Receiver): Loop {
  const { db, log } = receiver;
  return startInterval({
    name: "embedded-webhooks",
    work: async () => {
      await authoriseLate(db);
      const { rows } = await sql<Waiting>`
        update embedded_gateway_webhooks set attempts = attempts + 1,
          next_try_at = now() + make_interval(secs => least(3600, 2 ^ least(attempts, 12) + ${timeoutMs / 1000}))
        where id in (select id from embedded_gateway_webhooks where next_try_at <= now()
          order by next_try_at limit 10 for update skip locked)
        returning id, body, times`.execute(db);
      // A delayed one holds up none: it is another's turn.
      for (const row of rows) void send(receiver, row).catch(logError(log, "webhook.failed"));
      await sql`delete from embedded_gateway_webhooks where created_at < now() - make_interval(hours => ${giveUpHours})`.execute(
        db,
      );
      return rows.length > 0 ? 0 : intervalMs;
    },
    intervalMs,
    log,
  });
}

/** The bank's late answer to what had failed. */
async function authoriseLate(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const due = tx
      .updateTable("embedded_gateway_payments")
      .set({ status: "authorized", authorizes_at: null, error_reason: null, error_description: null })
      .where("authorizes_at", "<=", sql<Date>`now()`);
    for (const row of await due.returningAll().execute())
      await queueWebhook(tx, { event: "payment.authorized", entities: { payment: paymentEntity(row) } });
  });
}

interface Waiting {
  readonly id: string;
  readonly body: string;
  readonly times: number;
}

async function send(receiver: Receiver, row: Waiting): Promise<void> {
  const { lost, tripled, delayed } = receiver.faults;
  if (happens(delayed)) await sleep(Math.random() * longestDelayMs);
  if (happens(lost)) return await forget(receiver, row.id);
  for (let times = happens(tripled) ? 3 : row.times; times > 0; times--) await post(receiver, row);
}

async function forget({ db }: Receiver, id: string): Promise<void> {
  await db.deleteFrom("embedded_gateway_webhooks").where("id", "=", id).execute();
}

async function post(receiver: Receiver, { id, body }: Waiting): Promise<void> {
  const { url, secret, log } = receiver;
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-razorpay-signature": signature, "x-razorpay-event-id": id };
  try {
    const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`the webhook ${id} was answered with ${answer.status}`);
    await forget(receiver, id);
  } catch (err) {
    log.warn({ event: "webhook.failed", webhookId: id, err });
  }
}
