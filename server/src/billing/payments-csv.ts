import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { invoiceNumber } from "../payments/ledger/issue-receipt.ts";

interface Movement {
  readonly at: Date;
  readonly kind: "payment" | "refund" | "dispute";
  readonly status: "paid" | "pending" | "processed" | "lost";
  /** Negative for money that goes to the customer. */
  readonly signed_minor: number;
  readonly currency: string;
  readonly payment_id: string;
  readonly credit_note: string | null;
  readonly subdomain: string;
  readonly container_type: string;
  readonly gpu_count: number;
  readonly duration_hours: number;
  readonly order_id: string;
  readonly gateway_payment_id: string;
}

const columns = [
  ...["date", "kind", "status", "amount", "currency", "number", "environment", "type", "gpus", "hours"],
  ...["order", "payment_reference"],
];

/** Whatever moved money of an account, oldest first (G334): the amounts of one currency add up to what was paid. */
export async function paymentsCsv(db: Db, userId: string): Promise<string> {
  const { rows } = await sql<Movement>`
    select moved.*, p.currency, p.id as payment_id, p.gateway_payment_id,
      o.id as order_id, o.subdomain, o.container_type, o.gpu_count, o.duration_hours
    from payments p join orders o on o.id = p.order_id cross join lateral (
      select coalesce(p.captured_at, p.created_at) as at, 'payment' as kind, 'paid' as status,
        p.amount_minor as signed_minor, null as credit_note
      union all
      select coalesce(r.processed_at, r.created_at), 'refund',
        case r.status when 'processed' then 'processed' else 'pending' end, -r.amount_minor,
        (select number from credit_notes where refund_id = r.id)
      from refunds r where r.payment_id = p.id and r.status <> 'waived'
      union all
      select coalesce(d.closed_at, d.created_at), 'dispute', 'lost', -d.counted_minor, null
      from disputes d where d.payment_id = p.id and d.counted_minor > 0) moved
    where p.user_id = ${userId} and p.status = 'captured'
    order by moved.at, p.id, moved.kind`.execute(db);
  return [columns, ...rows.map(lineOf)].map((fields) => `${fields.map(fieldOf).join(",")}\r\n`).join("");
}

function lineOf(row: Movement): readonly (string | number)[] {
  const number = row.kind === "payment" ? invoiceNumber(row.payment_id) : (row.credit_note ?? "");
  return [
    ...[row.at.toISOString(), row.kind, row.status, (row.signed_minor / 100).toFixed(2), row.currency, number],
    ...[row.subdomain, row.container_type, row.gpu_count, row.duration_hours, row.order_id, row.gateway_payment_id],
  ];
}

/** By RFC 4180. */
function fieldOf(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
