import { sql } from "kysely";
import * as z from "zod";
import type { Loop } from "../../async/start-interval.ts";
import type { RowOf } from "../../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  type Leased,
  nextDueMs,
  retryIn,
  startWorker,
  workQueue,
} from "../../database/work-queue.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError } from "../provider/provider.ts";
import { recordReturnedRefund } from "../refunds/record-returned-refund.ts";
import { pollDays } from "./deadlines.ts";
import { syncDispute } from "./dispute-poller.ts";
import { settlePayment } from "./settle-payment.ts";

type Event = Leased<RowOf<"gateway_events">>;

const queue = workQueue("gateway_events", ["gateway", "event_id"], 30);
const backoff = { firstMs: 2000, longestMs: 3_600_000 };

/** Only ids are read from a body, because the rest of it may be outdated. */
const webhookBody = z.object({
  payload: z.object({
    payment: z.object({ entity: z.object({ id: z.string().min(1) }) }).optional(),
    refund: z.object({ entity: z.object({ id: z.string().min(1), payment_id: z.string().min(1) }) }).optional(),
    dispute: z.object({ entity: z.object({ id: z.string().min(1), payment_id: z.string().min(1) }) }).optional(),
  }),
});

const width = 20;
const intervalMs = 5000;

/** Its message is logged without a stack, which would explain nothing. */
class UnknownOrderError extends Error {
  override name = "UnknownOrderError";
  override stack = `${this.name}: ${this.message}`;
}

/** Processes stored webhooks until each is done: reads the named payment at the provider and settles it. */
export function startWebhookProcessor(deps: PaymentsDeps): Loop {
  const { db, provider, changes, log } = deps;
  const isOpen = sql`processed_at is null and gateway = ${provider.kind}`;
  return startWorker({
    name: "provider-events",
    changes,
    on: ["gateway_event"],
    fetch: () => fetchDue(db, queue, { where: isOpen, limit: width, set: { attempts: sql`attempts + 1` } }),
    work: (event) => work(deps, event),
    nextDueMs: () => nextDueMs(db, queue, isOpen),
    intervalMs,
    log,
  });
}

async function work(deps: PaymentsDeps, event: Event): Promise<void> {
  try {
    await end(deps, event, await take(deps, event));
  } catch (error) {
    // Logged once: a payment of an unknown order is retried for days, because its order may be about to be stored.
    if (!(error instanceof UnknownOrderError) || event.attempts === 1)
      deps.log.warn({ event: "provider.event_failed", eventId: event.event_id, err: error });
    // A final refusal, such as another account's payment: a retry would change nothing.
    if (error instanceof ProviderError && !error.retryable) await end(deps, event, String(error));
    else await retry(deps, event, String(error));
  }
}

/** Returns the reason why nothing was done, or null. Throws retryable errors. */
async function take(deps: PaymentsDeps, event: Event): Promise<string | null> {
  const parsed = webhookBody.safeParse(JSON.parse(event.body.toString("utf8")));
  if (!parsed.success) return "unknown shape";
  const { payment, refund, dispute } = parsed.data.payload;
  const paymentId = payment?.entity.id ?? refund?.entity.payment_id ?? dispute?.entity.payment_id;
  if (!paymentId) return "names no payment";
  const outcome = await settlePayment(deps, await deps.provider.payment(paymentId));
  // The webhook came before our transaction stored the order's id, or is about another system's order.
  if (outcome === "unknown_order")
    throw new UnknownOrderError(`${event.event}: payment ${paymentId} belongs to no order of ours`);
  if (refund) await followRefund(deps, refund.entity.id, paymentId);
  if (refund && event.event === "refund.failed") await recordReturnedRefund(deps, refund.entity.id);
  if (dispute) await syncDispute(deps, dispute.entity.id);
  return null;
}

/** Makes the refund due, so that the refund sender polls it now. */
async function followRefund({ db }: PaymentsDeps, refundId: string, paymentId: string): Promise<void> {
  await sql`
    update refunds r set due_at = now() from payments p
    where p.id = r.payment_id and p.gateway_payment_id = ${paymentId} and r.status not in ('processed', 'waived')
      and (r.gateway_refund_id = ${refundId} or r.gateway_refund_id is null)`.execute(db);
}

async function end({ db }: PaymentsDeps, event: Event, reason: string | null): Promise<void> {
  const last_error = reason?.slice(0, 500) ?? null;
  await finish(db, queue, event, { processed_at: sql`now()`, due_at: null, last_error });
}

/** Retries for as long as an order is polled. */
async function retry(deps: PaymentsDeps, event: Event, reason: string): Promise<void> {
  if (Date.now() - event.received_at.getTime() > pollDays * 86_400_000) return await end(deps, event, reason);
  await finish(deps.db, queue, event, retryIn(backoffMs(event.attempts, backoff), reason));
}
