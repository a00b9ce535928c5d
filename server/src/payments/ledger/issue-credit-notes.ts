import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { CreditNoteDocument, ReceiptDocument } from "./receipt-document.ts";
import { computeCreditedTax, nextSerial, serialText } from "./tax.ts";

interface Refund {
  readonly id: string;
  readonly amount_minor: number;
  readonly reason: string;
  readonly gateway_refund_id: string | null;
  readonly arn: string | null;
}

/**
 * Issues the missing credit notes of a payment's processed refunds, in the transaction that books them
 * (docs/internals/money.md). Locks the receipt's row, because the tax of each note depends on the earlier ones.
 */
export async function issueCreditNotes(tx: Tx, paymentId: string): Promise<void> {
  const receipt = await tx
    .selectFrom("receipts")
    .innerJoin("payments", "payments.id", "receipts.payment_id")
    .select(["receipts.user_id", "receipts.document", sql<Date>`now()`.as("now")])
    .where("payment_id", "=", paymentId)
    .forUpdate("receipts")
    .executeTakeFirst();
  if (!receipt) return;
  const { rows: refunds } = await sql<Refund>`
    select r.id, r.amount_minor, r.reason, r.gateway_refund_id, r.arn from refunds r
    where r.payment_id = ${paymentId} and r.status = 'processed'
      and not exists (select 1 from credit_notes where refund_id = r.id)
    order by r.created_at, r.id`.execute(tx);
  for (const refund of refunds) await issue(tx, paymentId, receipt, refund);
}

async function issue(
  tx: Tx,
  payment_id: string,
  { user_id, document: receipt, now }: { user_id: string; document: ReceiptDocument; now: Date },
  refund: Refund,
): Promise<void> {
  const { amount_minor, reason, gateway_refund_id, arn } = refund;
  const serial = receipt.tax ? await nextSerial(tx, "C", receipt.mode, now) : undefined;
  const before = await creditedBefore(tx, payment_id);
  const credited = receipt.tax && computeCreditedTax(receipt.tax.kind, before, before + amount_minor);
  const document: Omit<CreditNoteDocument, "number"> = {
    ...receipt,
    issued_at: now.toISOString(),
    tax: receipt.tax && serial ? { ...receipt.tax, ...credited, serial: serialText(serial) } : null,
    credited_minor: amount_minor,
    ...{ reason, gateway_refund_id, arn },
    receipt_number: receipt.number,
    receipt_issued_at: receipt.issued_at,
    receipt_serial: receipt.tax?.serial ?? null,
  };
  const row = { refund_id: refund.id, payment_id, user_id, amount_minor, ...serial };
  for (let written = false; !written; ) {
    const number = `CRN-${newId().slice(0, 11)}`;
    const insert = tx
      .insertInto("credit_notes")
      .values({ ...row, number, document: JSON.stringify({ ...document, number }) })
      // Retried with another number if this one is taken.
      .onConflict((conflict) => conflict.column("number").doNothing());
    written = (await insert.returning("number").executeTakeFirst()) !== undefined;
  }
}

async function creditedBefore(tx: Tx, paymentId: string): Promise<number> {
  const { sum } = await tx
    .selectFrom("credit_notes")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("amount_minor"), row.lit(0)).as("sum"))
    .where("payment_id", "=", paymentId)
    .executeTakeFirstOrThrow();
  return sum;
}
