import { billing, creditNote, orderDetail, receipt } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, notFound, success } from "../http/mount.ts";
import { creditNoteNotes, creditNoteSections } from "./credit-note-sections.ts";
import { documentPdf } from "./document-pdf.ts";
import { readBilling } from "./read-billing.ts";
import { readOrder } from "./read-order.ts";
import { readCreditNote, readReceipt } from "./read-receipt.ts";
import { receiptNotes, receiptSections } from "./receipt-sections.ts";
import { buildStatement } from "./statement.ts";

interface BillingDeps {
  readonly db: Db;
  readonly brand: { readonly name: string; readonly email: string };
}

/** What the screen Billing and Usage shows (G63), one order whole, and the papers: a receipt for each payment (G86), a credit note for each refund. */
export function billingRoutes(app: FastifyInstance, { db, brand }: BillingDeps): void {
  mount(app, billing, async ({ user }) => ({
    ...success,
    ...buildStatement(await readBilling(db, user.id), new Date()),
  }));

  mount(app, orderDetail, async ({ user, params: { order_id } }) => {
    const order = await readOrder(db, user.id, order_id);
    if (!order) throw notFound();
    return { ...success, order };
  });

  mount(app, receipt, async ({ user, params: { number } }) => {
    const found = await readReceipt(db, user.id, number);
    if (!found) throw notFound();
    const paper = {
      title: `${found.tax ? "Tax invoice" : "Receipt"} ${found.number}`,
      issuedAt: found.issued_at,
      sections: receiptSections(found),
      notes: receiptNotes(found),
    };
    return { name: `${found.number}.pdf`, content: await documentPdf(paper, brand) };
  });

  mount(app, creditNote, async ({ user, params: { number } }) => {
    const found = await readCreditNote(db, user.id, number);
    if (!found) throw notFound();
    const paper = {
      title: `Credit note ${found.number}`,
      issuedAt: found.issued_at,
      sections: creditNoteSections(found),
      notes: creditNoteNotes(found),
    };
    return { name: `${found.number}.pdf`, content: await documentPdf(paper, brand) };
  });
}
