import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import { prorate, type Usage, usageOfOrder } from "../../payments/refunds/usage-of-order.ts";

export interface Calculation extends Usage {
  readonly orderId: string;
  readonly currency: string;
  /** Minor units. */
  readonly paidMinor: number;
  readonly refundedMinor: number;
  readonly proratedMinor: number;
  readonly fullMinor: number;
  /** Whether the clock of the environment runs, so that less is left later. */
  readonly runs: boolean;
}

/** Returns what a refund would give back at an instant, now by default. Changes nothing. Throws for an order without a payment. */
export async function calculateRefund(db: Db, id: string, at?: Date): Promise<Calculation> {
  const { rows } = await sql<Row>`
    select o.id as "orderId", p.currency, p.amount_minor as "paidMinor", p.refund_minor as "refundedMinor",
      e.expires_at is not null and e.terminated_at is null as runs,
      coalesce(extract(epoch from ${at ?? null}::timestamptz - now()), 0)::float8 as "laterSeconds"
    from orders o join payments p on p.order_id = o.id and p.settles_order
    left join environments e on e.order_id = o.id or e.id = o.extends
    where ${id} in (o.id, o.gateway_order_id)`.execute(db);
  const [row] = rows;
  if (!row) throw new AppError("not_found", `There is no paid order ${id}`);
  const { laterSeconds, ...order } = row;
  const usage = usageAt(await usageOfOrder(db, order.orderId), order.runs ? laterSeconds : 0);
  const fullMinor = order.paidMinor - order.refundedMinor;
  return { ...order, ...usage, fullMinor, proratedMinor: prorate(fullMinor, usage) };
}

type Row = Pick<Calculation, "orderId" | "currency" | "paidMinor" | "refundedMinor" | "runs"> & {
  readonly laterSeconds: number;
};

function usageAt({ totalSeconds, unusedSeconds }: Usage, laterSeconds: number): Usage {
  return { totalSeconds, unusedSeconds: Math.floor(Math.min(totalSeconds, Math.max(0, unusedSeconds - laterSeconds))) };
}
