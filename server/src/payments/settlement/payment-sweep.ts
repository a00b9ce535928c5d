import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { RowOf } from "../../database/database.ts";
import { fetchDue, finish, inMs, keepLease, type Leased, nextDueMs, workQueue } from "../../database/work-queue.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import type { ProviderPayment } from "../provider/provider.ts";
import { minutesAfter, pollDays, sweepMinutes, sweepOverlapMinutes } from "./deadlines.ts";

/** Of one page, the most that the provider gives. */
const width = 100;
const mostPages = 100;
const sliceMinutes = 24 * 60;
const intervalMs = sweepMinutes * 60_000;
const retryMs = 120_000;
type Sweep = Leased<RowOf<"gateway_sweeps">> & { readonly now: Date };

const queue = workQueue("gateway_sweeps", ["key_id"], 120);

/**
 * Reads the provider's own list of payments every ten minutes, a little further back than the last time, so that money is
 * found of which no webhook told, after the polls of its order, or whose order is not ours. What is new is
 * stored as an event, and worked off, retried and shown to the operator like one.
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

/** The first one begins with the oldest order that can still be paid: before it there was nothing of ours. */
async function ensureSweep({ db, provider }: PaymentsDeps): Promise<void> {
  await sql`
    insert into gateway_sweeps (key_id, swept_until)
    select ${provider.keyId}, coalesce(min(created_at), now()) from orders
    where gateway = ${provider.kind} and mode = ${provider.mode} and created_at > now() - make_interval(days => ${pollDays})
    on conflict do nothing`.execute(db);
}

/** After a long stop, day by day: each is kept as done, so that a pass that dies goes on where it was. */
async function catchUp(deps: PaymentsDeps, { swept_until, now }: Sweep): Promise<void> {
  let from = minutesAfter(swept_until, -sweepOverlapMinutes);
  while (from < now) {
    const longest = minutesAfter(from, sliceMinutes);
    from = await sweepSlice(deps, from, longest < now ? longest : now);
    await saveProgress(deps, from);
  }
}

/** Returns how far it came: of a slice with too many payments the older half is read first. */
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
 * Stores what holds money, belongs to an order, and is not known to be so. The event's id says what was seen, so that
 * the same state is stored once however often it is swept, and a later capture of the same payment is stored again.
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
  const rows = holding
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
  if (rows.length === 0) return;
  await db
    .insertInto("gateway_events")
    .values(rows)
    .onConflict((conflict) => conflict.columns(["gateway", "event_id"]).doNothing())
    .execute();
}

async function saveProgress({ db, provider }: PaymentsDeps, until: Date): Promise<void> {
  await sql`
    update gateway_sweeps set swept_until = greatest(swept_until, ${until}) where key_id = ${provider.keyId}`.execute(
    db,
  );
}
