import { sql } from "kysely";
import * as z from "zod";
import type { Loop } from "../../async/start-interval.ts";
import type { RowOf } from "../../database/database.ts";
import { startNotifiedLoop } from "../../database/woken-loop.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError } from "../provider/provider.ts";
import { Remark } from "../provider/remark.ts";
import { recordReturnedRefund } from "../refunds/record-returned-refund.ts";
import { pollDays } from "./deadlines.ts";
import { syncDispute } from "./dispute-poller.ts";
import { settlePayment } from "./settle-payment.ts";

type Claimed = RowOf<"gateway_events"> & { readonly claim: string };

/** A body is a snapshot of some moment: all that is taken from it is whom to ask about. */
const webhookBody = z.object({
  payload: z.object({
    payment: z.object({ entity: z.object({ id: z.string().min(1) }) }).optional(),
    refund: z.object({ entity: z.object({ id: z.string().min(1), payment_id: z.string().min(1) }) }).optional(),
    dispute: z.object({ entity: z.object({ id: z.string().min(1), payment_id: z.string().min(1) }) }).optional(),
  }),
});

const width = 20;
const intervalMs = 5000;

/** Works off what the provider told, each event until it is done: the payment it names is read anew and observed. */
export function startWebhookProcessor(deps: PaymentsDeps): Loop {
  const { changes, log } = deps;
  return startNotifiedLoop({
    name: "provider-events",
    changes,
    on: ["gateway_event"],
    work: async () => {
      const events = await claim(deps);
      await Promise.all(events.map((event) => work(deps, event)));
      return events.length > 0 ? 0 : untilNext(deps);
    },
    intervalMs,
    log,
  });
}

async function claim({ db, provider }: PaymentsDeps): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    update gateway_events set claim = gen_random_uuid(), next_check_at = now() + interval '30 seconds', attempts = attempts + 1
    where (gateway, event_id) in (
      select gateway, event_id from gateway_events
      where processed_at is null and next_check_at <= now() and gateway = ${provider.kind}
      order by next_check_at limit ${width} for update skip locked)
    returning *`.execute(db);
  return rows;
}

async function untilNext({ db, provider }: PaymentsDeps): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from min(next_check_at) - now()) * 1000 as ms from gateway_events
    where processed_at is null and gateway = ${provider.kind}`.execute(db);
  return Math.max(0, rows[0]?.ms ?? intervalMs);
}

async function work(deps: PaymentsDeps, event: Claimed): Promise<void> {
  try {
    await end(deps, event, await take(deps, event));
  } catch (error) {
    // A stranger's payment is told of once: it is asked about for days, in case its order is being stored just now.
    if (!(error instanceof Remark) || event.attempts === 1)
      deps.log.warn({ event: "provider.event_failed", eventId: event.event_id, err: error });
    // Refused for good, such as another account's payment: asking again would change nothing.
    if (error instanceof ProviderError && !error.retryable) await end(deps, event, String(error));
    else await retry(deps, event, String(error));
  }
}

/** Answers why nothing was done, or null. Throws what is to be tried again. */
async function take(deps: PaymentsDeps, event: Claimed): Promise<string | null> {
  const parsed = webhookBody.safeParse(JSON.parse(event.body.toString("utf8")));
  if (!parsed.success) return "not understood";
  const { payment, refund, dispute } = parsed.data.payload;
  const paymentId = payment?.entity.id ?? refund?.entity.payment_id ?? dispute?.entity.payment_id;
  if (!paymentId) return "names no payment";
  const outcome = await settlePayment(deps, await deps.provider.payment(paymentId));
  // Told before our own transaction had stored the order's id, or of an order that is not ours at all.
  if (outcome === "unknown_order") throw new Remark(`${event.event}: payment ${paymentId} belongs to no order of ours`);
  if (refund) await followRefund(deps, refund.entity.id, paymentId);
  if (refund && event.event === "refund.failed") await recordReturnedRefund(deps, refund.entity.id);
  if (dispute) await syncDispute(deps, dispute.entity.id);
  return null;
}

/** Its own loop asks the provider about it, now instead of later. */
async function followRefund({ db }: PaymentsDeps, refundId: string, paymentId: string): Promise<void> {
  await sql`
    update refunds r set next_check_at = now() from payments p
    where p.id = r.payment_id and p.gateway_payment_id = ${paymentId} and r.status not in ('processed', 'waived') and r.claim is null
      and (r.gateway_refund_id = ${refundId} or r.gateway_refund_id is null)`.execute(db);
}

async function end({ db }: PaymentsDeps, event: Claimed, reason: string | null): Promise<void> {
  await sql`
    update gateway_events set processed_at = now(), next_check_at = null, claim = null, last_error = ${reason?.slice(0, 500) ?? null}
    where gateway = ${event.gateway} and event_id = ${event.event_id} and claim = ${event.claim}`.execute(db);
}

/** For as long as an order is watched: later nothing can come of it. */
async function retry(deps: PaymentsDeps, event: Claimed, reason: string): Promise<void> {
  const seconds = Math.min(2 ** Math.min(event.attempts, 12), 3600);
  if (Date.now() - event.received_at.getTime() > pollDays * 86_400_000) return await end(deps, event, reason);
  await sql`
    update gateway_events set claim = null, next_check_at = now() + make_interval(secs => ${seconds}), last_error = ${reason.slice(0, 500)}
    where gateway = ${event.gateway} and event_id = ${event.event_id} and claim = ${event.claim}`.execute(deps.db);
}
