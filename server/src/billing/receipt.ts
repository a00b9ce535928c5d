import { type Selectable, sql } from "kysely";
import type { Db } from "../database/database.ts";
import type { OrdersTable, PaymentsTable, RefundsTable } from "../database/payment-tables.ts";

type Payment = Pick<
  Selectable<PaymentsTable>,
  "gateway_payment_id" | "amount_minor" | "currency" | "refund_minor" | "method" | "card_network" | "card_last4"
>;
type Order = Pick<
  Selectable<OrdersTable>,
  | "container_type"
  | "gpu_count"
  | "duration_hours"
  | "subdomain"
  | "usd_minor"
  | "inr_paise_per_usd"
  | "mode"
  | "created_at"
>;

/** Everything a receipt says (payments.md 10). Amounts in minor units of `currency`, the list price in US cents (G7). */
export interface Receipt extends Payment, Order {
  readonly number: string;
  readonly issued_at: Date;
  /** As they were when they paid: anything a person may type. */
  readonly customer_name: string;
  readonly customer_email: string;
  /** The newest session of what was bought or extended (G70); null for a second payment, or where it never ran. */
  readonly session_id: string | null;
  /** Oldest first. */
  readonly refunds: readonly Refund[];
}

export type Refund = Pick<Selectable<RefundsTable>, "amount_minor" | "status" | "created_at" | "processed_at" | "arn">;

/** Undefined for a number that is nobody's, another user's, or of a payment that was never made. */
export async function readReceipt(db: Db, userId: string, number: string): Promise<Receipt | undefined> {
  const { rows } = await sql<Omit<Receipt, "refunds"> & { payment_id: string }>`
    select r.payment_id, r.number, r.issued_at, r.customer_name, r.customer_email,
      p.gateway_payment_id, p.amount_minor, p.currency, p.refund_minor, p.method, p.card_network, p.card_last4,
      o.container_type, o.gpu_count, o.duration_hours, o.subdomain, o.usd_minor, o.inr_paise_per_usd, o.mode, o.created_at,
      (select s.id from sessions s
       where s.environment_id = coalesce(o.extends, (select e.id from environments e where e.order_id = o.id))
         and p.settles_order order by s.opened_at desc, s.id limit 1) as session_id
    from receipts r join payments p on p.id = r.payment_id join orders o on o.id = p.order_id
    where r.number = ${number} and r.user_id = ${userId}`.execute(db);
  const [found] = rows;
  if (!found) return undefined;
  const { payment_id, ...receipt } = found;
  const refunds = await db
    .selectFrom("refunds")
    .select(["amount_minor", "status", "created_at", "processed_at", "arn"])
    .where("payment_id", "=", payment_id)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return { ...receipt, refunds };
}
