import { payingAccount } from "@berth/contract";
import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { RowOf, Tx } from "../../database/database.ts";
import { backoffMs, fetchDue, finish, nextDueMs, retryIn, startWorker } from "../../database/work-queue.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { issueCreditNotes } from "../ledger/issue-credit-notes.ts";
import { bookRefundArrived, bookRefundCreated, bookRefundFailed } from "../ledger/journal.ts";
import { lockPayment } from "../ledger/lock-payment.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { ProviderError, type ProviderRefund } from "../provider/provider.ts";
import {
  closeRefundedOrder,
  disputedMinor,
  disputeState,
  type LeasedRefund,
  postponeRefund,
  refundQueue,
  waiveRefund,
} from "./waive-refund.ts";

type DueRefund = LeasedRefund & { readonly gateway_payment_id: string; readonly now: Date };

const intervalMs = 5000;
/** After a call without a reply: of the request for a refund, or of a poll of it. */
const backoff = { firstMs: 2000, longestMs: 3_600_000 };
/** After a refusal (such as a low balance), and for a refund that the provider reports as failed. */
const dailyMs = 24 * 3_600_000;

/** Sends every refund and polls it until the money has arrived (G16). Retries without end, under one idempotency key. */
export function startRefundSender(deps: PaymentsDeps): Loop {
  const { db, provider, changes, log } = deps;
  const isOpen = sql`status not in ('processed', 'waived') and exists (
    select from payments p join orders o on o.id = p.order_id
    where p.id = refunds.payment_id and o.gateway = ${provider.kind} and o.mode = ${provider.mode})`;
  return startWorker<DueRefund>({
    name: "refunds",
    changes,
    on: ["order", "notification"],
    fetch: () =>
      fetchDue(db, refundQueue, {
        where: isOpen,
        limit: 20,
        compute: {
          now: sql<Date>`now()`,
          gateway_payment_id: sql<string>`(select gateway_payment_id from payments where id = refunds.payment_id)`,
        },
        set: { attempts: sql`attempts + 1` },
      }),
    work: (refund) => sendRefund(deps, refund),
    nextDueMs: () => nextDueMs(db, refundQueue, isOpen),
    intervalMs,
    log,
  });
}

async function sendRefund(deps: PaymentsDeps, refund: DueRefund): Promise<void> {
  try {
    if (await isSettledByDispute(deps, refund)) return;
    await record(deps, refund, await fetchOrSend(deps, refund));
  } catch (error) {
    deps.log.warn({ event: "refund.failed", refundId: refund.id, err: error });
    // Without a response the same key is retried. A refusal (such as an empty balance) needs an operator: retried daily.
    const isRefused = error instanceof ProviderError && !error.retryable;
    const waitMs = isRefused ? dailyMs : backoffMs(refund.attempts, backoff);
    await finish(deps.db, refundQueue, refund, retryIn(waitMs, error));
  }
}

/**
 * Applies the payment's disputes to an unsent or failed refund: postponed while one is open, waived as far as the bank took
 * the money. A refund that an unanswered call created is recorded first. Returns whether the refund is done for now.
 */
async function isSettledByDispute(deps: PaymentsDeps, refund: DueRefund): Promise<boolean> {
  if (refund.status === "sent") return false;
  const state = await disputeState(deps.db, refund.payment_id);
  if (state === "none" || (state === "open" && refund.status === "failed")) return false;
  const made = refund.gateway_refund_id ? undefined : await findAtProvider(deps, refund);
  if (made) await record(deps, refund, made);
  else if (state === "open") await postponeRefund(deps.db, refund);
  else return await waiveRefund(deps.db, refund);
  return true;
}

async function fetchOrSend(deps: PaymentsDeps, refund: DueRefund): Promise<ProviderRefund> {
  const { provider } = deps;
  const { id: key, gateway_refund_id, gateway_payment_id: paymentId, amount_minor: amountMinor, reason } = refund;
  if (gateway_refund_id) return provider.refundById(gateway_refund_id);
  try {
    return await provider.refund({ paymentId, amountMinor, key, notes: { reason } });
  } catch (error) {
    if (!(error instanceof ProviderError) || error.retryable) throw error;
    // A final refusal may mean that it exists already, created by a call whose response was lost or in the dashboard.
    const found = await findAtProvider(deps, refund);
    if (found) return found;
    throw error;
  }
}

/** Finds a refund of the same amount without a row of its own, if the provider has all refunds of the payment. */
async function findAtProvider({ db, provider }: PaymentsDeps, refund: DueRefund): Promise<ProviderRefund | undefined> {
  const made = (await provider.refundsOfPayment(refund.gateway_payment_id)).filter(({ status }) => status !== "failed");
  const ours = await db
    .selectFrom("refunds")
    .innerJoin("payments", "payments.id", "refunds.payment_id")
    .select(["gateway_refund_id", "refund_minor"])
    .where("payment_id", "=", refund.payment_id)
    .execute();
  const sentMinor = made.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  const disputed = await disputedMinor(db, refund.payment_id);
  if (ours.some(({ refund_minor }) => sentMinor < refund_minor - disputed)) return undefined;
  return made.find(
    ({ id, amountMinor }) =>
      amountMinor === refund.amount_minor && !ours.some(({ gateway_refund_id }) => gateway_refund_id === id),
  );
}

async function record({ db, log, announce }: PaymentsDeps, refund: DueRefund, found: ProviderRefund): Promise<void> {
  const status = found.status === "pending" ? "sent" : found.status;
  const isNew = await db.transaction().execute(async (tx) => {
    const payment = await lockPayment(tx, refund.payment_id);
    const updated = await finish(tx, refundQueue, refund, {
      status,
      gateway_refund_id: found.id,
      arn: found.arn,
      last_error: null,
      processed_at: status === "processed" ? sql`now()` : null,
      due_at: status === "processed" ? null : nextCheck(status, refund),
    });
    if (!updated || status === refund.status) return false;
    if (refund.status === "failed") {
      await addRefunded(tx, payment, refund.amount_minor);
      await bookRefundCreated(tx, payment, refund);
    }
    if (status === "failed") {
      await addRefunded(tx, payment, -refund.amount_minor);
      await bookRefundFailed(tx, payment, refund);
    }
    if (status === "processed") await recordArrival(tx, payment, refund, found.arn, announce);
    return true;
  });
  if (isNew && status === "processed")
    log.info({ event: "refund.arrived", refundId: refund.id }, "a refund has left the provider");
}

async function recordArrival(
  tx: Tx,
  payment: RowOf<"payments">,
  refund: DueRefund,
  arn: string | null,
  announce: Announce,
): Promise<void> {
  await bookRefundArrived(tx, payment, refund);
  await issueCreditNotes(tx, payment.id);
  if (payment.settles_order) await closeRefundedOrder(tx, payment.order_id);
  await announce(tx, {
    userId: payment.user_id,
    cause: `refunded:${refund.id}`,
    title: "Refund sent",
    body: `${formatAmount(refund.amount_minor, payment.currency)} left us for ${payingAccount(payment.method).name}${arn ? ` (bank reference ${arn})` : ""}. Banks take 4-5 business days.`,
    link: `/billing/orders/${payment.order_id}`,
  });
}

async function addRefunded(tx: Tx, { id }: RowOf<"payments">, minor: number): Promise<void> {
  await sql`update payments set refund_minor = refund_minor + ${minor} where id = ${id}`.execute(tx);
}

/** Polls young refunds often, old ones hourly. */
function nextCheck(status: "sent" | "failed", { created_at, now }: DueRefund): Date {
  const ageMs = now.getTime() - created_at.getTime();
  const waitMs = status === "failed" ? dailyMs : Math.min(Math.max(1000, ageMs / 2), 3_600_000);
  return new Date(now.getTime() + waitMs);
}
