import { billing, receipt } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, notFound, success } from "../http/mount.ts";
import { readBilling } from "./read.ts";
import { readReceipt } from "./receipt.ts";
import { receiptPdf } from "./receipt-pdf.ts";
import { statementOf } from "./statement.ts";

interface Parts {
  readonly db: Db;
  readonly brand: { readonly name: string; readonly email: string };
}

/** What the screen Billing and Usage shows (G63), and a receipt for each payment (G86). */
export function billingRoutes(app: FastifyInstance, { db, brand }: Parts): void {
  mount(app, billing, async ({ user }) => ({
    ...success,
    ...statementOf(await readBilling(db, user.id), new Date()),
  }));

  mount(app, receipt, async ({ user, params: { number } }) => {
    const found = await readReceipt(db, user.id, number);
    if (!found) throw notFound();
    return { name: `${found.number}.pdf`, content: await receiptPdf(found, brand) };
  });
}
