import { major, type Order, paidWith } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { invoiceNumber } from "../payments/ledger/issue-receipt.ts";
import { orderMoney, orderState } from "./order-money.ts";
import type {
  Attempt,
  Credit,
  Dispute,
  Extension,
  FoundOrder,
  OrderSources,
  Refund,
  RefundRequest,
} from "./order-sources.ts";
import { orderTimeline } from "./order-timeline.ts";

/** Returns undefined for an unknown order and another user's. `id` is ours or the provider's, which the browser has. */
export async function readOrder(db: Db, userId: string, id: string): Promise<Order | undefined> {
  const order = await findOrder(db, userId, id);
  if (!order) return undefined;
  const [attempts, refunds, disputes, requests, creditNotes, credits, extensions] = await Promise.all([
    attemptsOf(db, order.id),
    refundsOf(order.id).execute(db),
    disputesOf(db, order.id),
    requestsOf(db, order.id),
    creditNotesOf(db, order.id),
    creditsOf(db, order.id),
    extensionsOf(db, order),
  ]);
  return orderOf({ order, attempts, refunds: refunds.rows, disputes, requests, creditNotes, credits, extensions });
}

function orderOf(sources: OrderSources): Order {
  const { order, attempts, refunds } = sources;
  const furthest = attempts.toSorted((a, b) => Number(b.settles_order) - Number(a.settles_order) || b.rank - a.rank)[0];
  const captured = attempts.filter(({ status }) => status === "captured");
  return {
    id: order.id,
    state: orderState(sources),
    container_type: order.container_type,
    subdomain: order.subdomain,
    gpu_count: order.gpu_count,
    duration_hours: order.duration_hours,
    extends: order.extends !== null,
    ordered_at: order.created_at.toISOString(),
    list_price: major(order.usd_minor),
    amount: major(order.amount_minor),
    currency: order.currency,
    rate: order.currency === "USD" ? null : order.inr_paise_per_usd / 100,
    inr_per_usd: order.currency === "INR" ? order.inr_paise_per_usd / 100 : null,
    paid_with: furthest?.status === "captured" ? paidWith(furthest) : null,
    method: methodOf(attempts),
    test_mode: order.mode !== "live",
    money: orderMoney(sources),
    timeline: orderTimeline(sources),
    references: {
      environment: order.environment_id,
      invoice: furthest && furthest.status !== "failed" ? invoiceNumber(furthest.id) : null,
      payment: furthest?.gateway_payment_id ?? null,
      session: order.session_id,
      bank: refunds.flatMap(({ arn }) => arn ?? []).reverse(),
    },
    receipts: captured
      .toSorted((a, b) => Number(b.settles_order) - Number(a.settles_order))
      .map((payment) => invoiceNumber(payment.id)),
    credit_notes: [...sources.creditNotes],
    may_ask_refund: mayRequestRefund(sources),
  };
}

function mayRequestRefund({ order, attempts, requests }: OrderSources): boolean {
  const settling = attempts.find(({ settles_order }) => settles_order);
  return (
    order.status === "fulfilled" &&
    settling !== undefined &&
    settling.refund_minor < settling.amount_minor &&
    !requests.some(({ status }) => status === "open")
  );
}

/** The method of all money of the order, or before any of the attempts that may still bring some; null if they differ. */
function methodOf(attempts: readonly Attempt[]): string | null {
  const captured = attempts.filter(({ status }) => status === "captured");
  const [first, ...others] = captured.length > 0 ? captured : attempts.filter(({ status }) => status !== "failed");
  return first && others.every(({ method }) => method === first.method) ? first.method : null;
}

async function findOrder(db: Db, userId: string, id: string): Promise<FoundOrder | undefined> {
  const named = /^[0-9a-z]{25}$/.test(id) ? sql`o.id = ${id}` : sql`o.gateway_order_id = ${id}`;
  // Other shapes are not queried, because PostgreSQL refuses some of them as text.
  if (!/^\w{1,64}$/.test(id)) return undefined;
  const { rows } = await sql<FoundOrder>`
    select o.*, e.id as environment_id, e.created_at as ready_at, e.terminated_at, e.ended_reason, now() as now,
      (select s.id from sessions s where s.environment_id = e.id order by s.opened_at desc, s.id limit 1) as session_id
    from orders o left join environments e
      on e.id = coalesce(o.extends, (select launched.id from environments launched where launched.order_id = o.id))
    where ${named} and o.user_id = ${userId}`.execute(db);
  return rows[0];
}

/** Limited, because a user may try a thousand cards; captured payments come first. */
async function attemptsOf(db: Db, orderId: string): Promise<readonly Attempt[]> {
  const rows = await db
    .selectFrom("payments")
    .selectAll()
    .where("order_id", "=", orderId)
    .orderBy("rank", "desc")
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(100)
    .execute();
  return rows.toSorted((a, b) => Number(a.created_at) - Number(b.created_at));
}

export function refundsOf(orderId: string) {
  return sql<Refund>`
    select r.* from refunds r join payments p on p.id = r.payment_id
    where p.order_id = ${orderId} order by r.created_at, r.id`;
}

/** Limited to the newest. */
async function requestsOf(db: Db, orderId: string): Promise<readonly RefundRequest[]> {
  const rows = await db
    .selectFrom("refund_requests")
    .selectAll()
    .where("order_id", "=", orderId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(20)
    .execute();
  return rows.reverse();
}

function disputesOf(db: Db, orderId: string): Promise<readonly Dispute[]> {
  return db
    .selectFrom("disputes")
    .selectAll("disputes")
    .innerJoin("payments", "payments.id", "disputes.payment_id")
    .where("payments.order_id", "=", orderId)
    .orderBy("disputes.created_at")
    .orderBy("disputes.id")
    .execute();
}

async function creditNotesOf(db: Db, orderId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("credit_notes")
    .innerJoin("payments", "payments.id", "credit_notes.payment_id")
    .select("number")
    .where("payments.order_id", "=", orderId)
    .orderBy("issued_at")
    .orderBy("number")
    .execute();
  return rows.map(({ number }) => number);
}

async function creditsOf(db: Db, orderId: string): Promise<readonly Credit[]> {
  const { rows } = await sql<Credit>`
    select order_id, gpu_hours, granted_at, used_by_order from time_credits where ${orderId} in (order_id, used_by_order)
    union all
    select from_order, gpu_hours, granted_at, used_by_order from granted_credits
    where ${orderId} in (from_order, used_by_order) order by granted_at`.execute(db);
  return rows;
}

async function extensionsOf(db: Db, order: FoundOrder): Promise<readonly Extension[]> {
  if (order.extends !== null || order.environment_id === null) return [];
  return db
    .selectFrom("orders")
    .select(["id", "duration_hours", "paid_at"])
    .where("extends", "=", order.environment_id)
    .where("status", "=", "fulfilled")
    .orderBy("paid_at", "desc")
    .limit(100)
    .$narrowType<{ paid_at: Date }>()
    .execute();
}
