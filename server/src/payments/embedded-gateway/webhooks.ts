import { createHmac, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { type Loop, startLoop } from "../../loop.ts";

type Entity = Readonly<Record<string, unknown>>;

interface Event {
  readonly event: string;
  /** By name, such as `payment` and `order`. */
  readonly entities: Readonly<Record<string, Entity>>;
  /** Told no sooner than that. */
  readonly notBefore?: Date;
}

/** Joins the transaction of what it tells. */
export async function tell(tx: Tx, { event, entities, notBefore }: Event): Promise<void> {
  const body = JSON.stringify({
    entity: "event",
    account_id: "acc_embedded",
    event,
    contains: Object.keys(entities),
    payload: Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }])),
    created_at: Math.floor(Date.now() / 1000),
  });
  const row = { id: `event_${randomBytes(9).toString("hex")}`, body, ...(notBefore && { next_try_at: notBefore }) };
  await tx.insertInto("embedded_gateway_webhooks").values(row).execute();
}

interface Receiver {
  readonly db: Db;
  readonly url: string;
  readonly secret: string;
  readonly failed: (error: unknown) => void;
}

const intervalMs = 1000;
const timeoutMs = 5000;
/** As the real one: told again for a day, then given up. */
const giveUpHours = 24;

/** Sends what is to be told, signed, at least once and in no certain order. */
export function startWebhooks(receiver: Receiver): Loop {
  const { db, failed } = receiver;
  return startLoop(
    async () => {
      const { rows } = await sql<{ id: string; body: string; attempts: number }>`
        update embedded_gateway_webhooks set attempts = attempts + 1,
          next_try_at = now() + make_interval(secs => least(3600, 2 ^ least(attempts, 12) + ${timeoutMs / 1000}))
        where id in (select id from embedded_gateway_webhooks where next_try_at <= now()
          order by next_try_at limit 10 for update skip locked)
        returning id, body, attempts`.execute(db);
      await Promise.all(rows.map((row) => send(receiver, row)));
      await sql`delete from embedded_gateway_webhooks where created_at < now() - make_interval(hours => ${giveUpHours})`.execute(
        db,
      );
      return rows.length > 0 ? 0 : intervalMs;
    },
    intervalMs,
    failed,
  );
}

async function send({ db, url, secret, failed }: Receiver, { id, body }: { id: string; body: string }): Promise<void> {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-razorpay-signature": signature, "x-razorpay-event-id": id };
  try {
    const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`the webhook ${id} was answered with ${answer.status}`);
    await db.deleteFrom("embedded_gateway_webhooks").where("id", "=", id).execute();
  } catch (error) {
    failed(error);
  }
}
