import { sql } from "kysely";
import type { Db, RowOf } from "../database/database.ts";
import type { CreditNoteDocument, ReceiptDocument } from "../payments/ledger/receipt-document.ts";

type Timed<Document> = Omit<Document, "issued_at" | "created_at"> & {
  readonly issued_at: Date;
  readonly created_at: Date;
};

/** A receipt (docs/internals/money.md): its frozen document and the refunds and disputes since. */
export interface Receipt extends Timed<ReceiptDocument> {
  /** Refunds that have not failed and lost disputes, in minor units of `currency`. */
  readonly refund_minor: number;
  /** Newest session of the environment (G70); null for a duplicate payment, and when it never ran. */
  readonly session_id: string | null;
  /** Oldest first. */
  readonly refunds: readonly Refund[];
  /** Sum of lost disputes. */
  readonly disputed_minor: number;
}

export type Refund = Pick<RowOf<"refunds">, "amount_minor" | "status" | "created_at" | "processed_at" | "arn">;

/** A credit note is immutable: its document has everything. */
export type CreditNote = Timed<CreditNoteDocument>;

/** Returns undefined for an unknown number and another user's. */
export async function readReceipt(db: Db, userId: string, number: string): Promise<Receipt | undefined> {
  const { rows } = await sql<Pick<Receipt, "refund_minor" | "session_id" | "disputed_minor"> & Row<ReceiptDocument>>`
    select r.payment_id, r.document, p.refund_minor,
      (select coalesce(sum(counted_minor), 0) from disputes where payment_id = p.id) as disputed_minor,
      (select s.id from sessions s
       where s.environment_id = coalesce(o.extends, (select e.id from environments e where e.order_id = o.id))
         and p.settles_order order by s.opened_at desc, s.id limit 1) as session_id
    from receipts r join payments p on p.id = r.payment_id join orders o on o.id = p.order_id
    where r.number = ${number} and r.user_id = ${userId}`.execute(db);
  const [found] = rows;
  if (!found) return undefined;
  const { payment_id, document, ...since } = found;
  const refunds = await db
    .selectFrom("refunds")
    .select(["amount_minor", "status", "created_at", "processed_at", "arn"])
    .where("payment_id", "=", payment_id)
    .where("status", "<>", "waived")
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return { ...timed(document), ...since, refunds };
}

/** Returns undefined for an unknown number and another user's. */
export async function readCreditNote(db: Db, userId: string, number: string): Promise<CreditNote | undefined> {
  const found = await db
    .selectFrom("credit_notes")
    .select("document")
    .where("number", "=", number)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return found && timed(found.document as CreditNoteDocument);
}

interface Row<Document> {
  readonly payment_id: string;
  readonly document: Document;
}

function timed<Document extends ReceiptDocument>(document: Document): Timed<Document> {
  return { ...document, issued_at: new Date(document.issued_at), created_at: new Date(document.created_at) };
}
