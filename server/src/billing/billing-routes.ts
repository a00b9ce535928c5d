import { billing, creditNote, orderDetail, paymentsCsv as paymentsCsvCall, receipt } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, notFound, success } from "../http/mount.ts";
import { creditNoteNotes, creditNoteSections } from "./credit-note-sections.ts";
import { documentPdf } from "./document-pdf.ts";
import { paymentsCsv } from "./payments-csv.ts";
import { readBilling } from "./read-billing.ts";
import { readOrder } from "./read-order.ts";
import { type CreditNote, readCreditNote, readReceipt } from "./read-receipt.ts";
import { receiptNotes, receiptSections, type Section } from "./receipt-sections.ts";
import { buildStatement } from "./statement.ts";

interface BillingDeps {
  readonly db: Db;
  readonly brand: { readonly name: string; readonly email: string };
}

/** Billing and Usage (G63), one order, and PDFs: a receipt for each payment (G86), a credit note for each refund. */
export function billingRoutes(app: FastifyInstance, { db, brand }: BillingDeps): void {
  mount(app, billing, async ({ user }) => ({
    ...success,
    ...buildStatement(await readBilling(db, user.id), new Date()),
  }));

  mount(app, paymentsCsvCall, async ({ user }) => ({
    name: "payments.csv",
    content: new Uint8Array(Buffer.from(await paymentsCsv(db, user.id))),
  }));

  mount(app, orderDetail, async ({ user, params: { order_id } }) => {
    const order = await readOrder(db, user.id, order_id);
    if (!order) throw notFound();
    return { ...success, order };
  });

  const pdf = async (
    { number, issued_at: issuedAt }: Pick<CreditNote, "number" | "issued_at">,
    title: string,
    sections: readonly Section[],
    notes: readonly string[],
  ) => ({ name: `${number}.pdf`, content: await documentPdf({ title, issuedAt, sections, notes }, brand) });

  mount(app, receipt, async ({ user, params: { number } }) => {
    const found = await readReceipt(db, user.id, number);
    if (!found) throw notFound();
    const title = `${found.tax ? "Tax invoice" : "Receipt"} ${found.number}`;
    return pdf(found, title, receiptSections(found), receiptNotes(found));
  });

  mount(app, creditNote, async ({ user, params: { number } }) => {
    const found = await readCreditNote(db, user.id, number);
    if (!found) throw notFound();
    return pdf(found, `Credit note ${found.number}`, creditNoteSections(found), creditNoteNotes(found));
  });
}
