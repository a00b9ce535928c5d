import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { RowOf } from "../../database/database.ts";
import { fetchDue, finish, inMs, keepLease, type Leased, nextDueMs, workQueue } from "../../database/work-queue.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import type { ProviderPayment } from "../provider/provider.ts";
import { minutesAfter, pollDays, sweepMinutes, sweepOverlapMinutes } from "./deadlines.ts";

/** Page size, the provider's maximum. */
const width = 100;
const mostPages = 100;
const sliceMinutes = 24 * 60;
const intervalMs = sweepMinutes * 60_000;
const retryMs = 120_000;
type Sweep = Leased<RowOf<"gateway_sweeps">> & { readonly now: Date };

const queue = workQueue("gateway_sweeps", ["key_id"], 120);

/**
 * Reads the provider's list of payments every ten minutes, overlapping with the last sweep, to find money without a webhook,
 * after the polls of its order, or of an unknown order. News is stored as an event, and processed, retried and listed by
 * doctor like a webhook.
 */
export function startPaymentSweep(deps: PaymentsDeps): Loop {
  const { db, provider, log } = deps;
  const ofKey = sql`key_id = ${provider.keyId}`;
  return startInterval({
    name: "payment-sweep",
    work: async () => {
      await ensureSweep(deps);
      const compute = { now: sql<Date>`now()` };
      const [sweep] = await fetchDue(db, queue, { where: ofKey, limit: 1, compute });
      if (sweep) await work(deps, sweep);
      return await nextDueMs(db, queue, ofKey);
    },
    intervalMs,
    log,
  });
}

async function work(deps: PaymentsDeps, sweep: Sweep): Promise<void> {
  const { db, log } = deps;
  let nextMs = retryMs;
  try {
    await keepLease(db, queue, sweep, log, () => catchUp(deps, sweep));
    nextMs = intervalMs;
  } finally {
    await finish(db, queue, sweep, { due_at: inMs(nextMs) });
  }
}

/** The first sweep starts at the oldest order that can still be paid. */
async function ensureSweep({ db, provider }: PaymentsDeps): Promise<void> {
  await sql`
    insert into gateway_sweeps (key_id, swept_until)
    select ${provider.keyId}, coalesce(min(created_at), now()) from orders
    where gateway = ${provider.kind} and mode = ${provider.mode} and created_at > now() - make_interval(days => ${pollDays})
    on conflict do nothing`.execute(db);
}

/** Sweeps day by day after a long stop and saves the progress, so that an interrupted pass continues there. */
async function catchUp(deps: PaymentsDeps, { swept_until, now }: Sweep): Promise<void> {
  let from = minutesAfter(swept_until, -sweepOverlapMinutes);
  while (from < now) {
    const longest = minutesAfter(from, sliceMinutes);
    from = await sweepSlice(deps, from, longest < now ? longest : now);
    await saveProgress(deps, from);
  }
}

/** Returns the end of the swept time: of a slice with too many payments the older half is swept first. */
async function sweepSlice(deps: PaymentsDeps, from: Date, to: Date): Promise<Date> {
  for (let page = 0; page < mostPages; page++) {
    const found = await deps.provider.paymentsBetween({ from, to, skip: page * width, count: width });
    await storeNews(deps, found.payments);
    if (found.isLast) return to;
  }
  const middle = new Date((from.getTime() + to.getTime()) / 2);
  if (middle.getTime() - from.getTime() < 1000)
    throw new Error(`too many payments at ${from.toISOString()} to be read`);
  return sweepSlice(deps, from, middle);
}

/**
 * Stores payments with money and an order whose state we do not have yet. The event's id contains that state, so that each
 * state is stored once, and a later capture of the same payment is stored again.
 */
async function storeNews({ db, provider }: PaymentsDeps, found: readonly ProviderPayment[]): Promise<void> {
  const holding = found.filter(({ orderId, status }) => orderId && (status === "authorized" || status === "captured"));
  if (holding.length === 0) return;
  const known = await db
    .selectFrom("payments")
    .select(["gateway_payment_id", "status", "refund_minor"])
    .where("gateway", "=", provider.kind)
    .where(
      "gateway_payment_id",
      "in",
      holding.map(({ id }) => id),
    )
    .execute();
  const before = new Map(known.map((row) => [row.gateway_payment_id, row]));
  const events = holding
    .filter(({ id, status, refundedMinor }) => {
      const row = before.get(id);
      return !row || (row.status !== "captured" && row.status !== status) || refundedMinor > row.refund_minor;
    })
    .map(({ id, status, refundedMinor }) => ({
      gateway: provider.kind,
      event_id: `sweep-${id}-${status}-${refundedMinor}`,
      event: "payment.swept",
      body: Buffer.from(JSON.stringify({ payload: { payment: { entity: { id } } } })),
    }));
  if (events.length === 0) return;
  await db
    .insertInto("gateway_events")
    .values(events)
    .onConflict((conflict) => conflict.columns(["gateway", "event_id"]).doNothing())
    .execute();
}

async function saveProgress({ db, provider }: PaymentsDeps, until: Date): Promise<void> {
  await sql`
    update gateway_sweeps set swept_until = greatest(swept_until, ${until}) where key_id = ${provider.keyId}`.execute(
    db,
  );
}
