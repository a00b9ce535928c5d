import { sql } from "kysely";
import type { RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Tables } from "../../database/tables.ts";

type Account = Tables["journal_lines"]["account"];
type Payment = Pick<RowOf<"payments">, "id" | "order_id" | "currency" | "amount_minor" | "fee_minor" | "settles_order">;

interface Entry {
  readonly kind: Tables["journal"]["kind"];
  readonly sourceId: string;
  readonly orderId: string;
  readonly currency: string;
  /** From the credited account to the debited one, minor units. */
  readonly amountMinor: number;
  readonly debit: Account;
  readonly credit: Account;
}

/** Money received for time that is not delivered yet. */
export async function bookCapture(tx: Tx, { id, order_id: orderId, currency, amount_minor, fee_minor }: Payment) {
  const about = { sourceId: id, orderId, currency };
  await book(tx, { ...about, kind: "capture", amountMinor: amount_minor, debit: "gateway", credit: "prepaid" });
  await book(tx, { ...about, kind: "fee", amountMinor: fee_minor ?? 0, debit: "fees", credit: "gateway" });
}

interface Refund {
  readonly id: string;
  readonly amount_minor: number;
}

/** A refund is payable, for the first time or again after a failure. */
export async function bookRefundCreated(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const entry = refundEntry(payment, refund);
  await bookRepeatable(tx, {
    ...entry,
    kind: "refund_asked",
    debit: await debitAccount(tx, payment),
    credit: "refunds_payable",
  });
}

/** The provider failed the refund: the money is prepaid (or revenue) again, and an operator decides. */
export async function bookRefundFailed(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const entry = refundEntry(payment, refund);
  await bookRepeatable(tx, {
    ...entry,
    kind: "refund_failed",
    debit: "refunds_payable",
    credit: await debitAccount(tx, payment),
  });
}

/** A refund arrived, possibly after a failure or a return. */
export async function bookRefundArrived(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const entry = refundEntry(payment, refund);
  await bookRepeatable(tx, { ...entry, kind: "refund_arrived", debit: "refunds_payable", credit: "gateway" });
}

/** The bank returned a refund that had arrived. */
export async function bookRefundReturned(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const entry = refundEntry(payment, refund);
  await bookRepeatable(tx, {
    ...entry,
    kind: "refund_failed",
    debit: "gateway",
    credit: await debitAccount(tx, payment),
  });
}

/** A refund made in the provider's dashboard: created and arrived at once. */
export async function bookExternalRefund(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const entry = refundEntry(payment, refund);
  await book(tx, { ...entry, kind: "external_refund", debit: await debitAccount(tx, payment), credit: "gateway" });
}

/** The bank took the money back. Unsent refunds of the payment are waived against this entry. */
export async function bookDisputeLost(tx: Tx, payment: Payment, dispute: Refund): Promise<void> {
  await book(tx, { ...refundEntry(payment, dispute), kind: "dispute_lost", debit: "disputes", credit: "gateway" });
}

/** A refund is waived because a lost dispute has paid it. `failed`: it was no longer payable. */
export async function bookRefundWaived(tx: Tx, payment: Payment, refund: Refund, failed: boolean): Promise<void> {
  const entry = refundEntry(payment, refund);
  const debit = failed ? await debitAccount(tx, payment) : "refunds_payable";
  await book(tx, { ...entry, kind: "refund_waived", debit, credit: "disputes" });
}

/** Books the rest of a payment as revenue. The caller has locked the order's row. */
export async function bookRemainingRevenue(tx: Tx, orderId: string): Promise<void> {
  const { rows } = await sql<{ currency: string; left: number }>`
    select l.currency, -sum(l.amount_minor) as left from journal_lines l
    where l.order_id = ${orderId} and l.account = 'prepaid' group by 1 having sum(l.amount_minor) < 0`.execute(tx);
  for (const { currency, left } of rows)
    await book(tx, {
      kind: "session_over",
      sourceId: orderId,
      orderId,
      currency,
      amountMinor: left,
      debit: "prepaid",
      credit: "revenue",
    });
}

function refundEntry({ order_id: orderId, currency }: Payment, { id: sourceId, amount_minor: amountMinor }: Refund) {
  return { sourceId, orderId, currency, amountMinor };
}

/** The account that pays a refund: revenue after the session's end, for the settling payment only; else prepaid. */
async function debitAccount(tx: Tx, { order_id, settles_order }: Payment): Promise<Account> {
  if (!settles_order) return "prepaid";
  const over = tx
    .selectFrom("journal")
    .select("id")
    .where("kind", "=", "session_over")
    .where("source_id", "=", order_id);
  return (await over.executeTakeFirst()) ? "revenue" : "prepaid";
}

/**
 * A refund may fail and arrive more than once, with an entry each time. The caller has changed the refund's status under
 * its lease and locked the order's row, so that nothing is booked twice.
 */
async function bookRepeatable(tx: Tx, entry: Entry): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from journal
    where kind = ${entry.kind} and (source_id = ${entry.sourceId} or starts_with(source_id, ${`${entry.sourceId}:`}))`.execute(
    tx,
  );
  const before = rows[0]?.count ?? 0;
  await book(tx, before === 0 ? entry : { ...entry, sourceId: `${entry.sourceId}:${before + 1}` });
}

/** Idempotent: books once for each kind and source. */
async function book(tx: Tx, { kind, sourceId, orderId, currency, amountMinor, debit, credit }: Entry): Promise<void> {
  if (amountMinor === 0) return;
  const entry = await tx
    .insertInto("journal")
    .values({ id: newId(), kind, source_id: sourceId })
    .onConflict((conflict) => conflict.columns(["kind", "source_id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!entry) return;
  const line = { entry_id: entry.id, order_id: orderId, currency };
  await tx
    .insertInto("journal_lines")
    .values([
      { ...line, account: debit, amount_minor: amountMinor },
      { ...line, account: credit, amount_minor: -amountMinor },
    ])
    .execute();
}
