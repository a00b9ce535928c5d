import { billing, orderDetail, receipt } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Db } from "../database/database.ts";
import { mount, notFound, success } from "../http/mount.ts";
import { readOrder } from "./order-detail.ts";
import { readBilling } from "./read.ts";
import { readReceipt } from "./receipt.ts";
import { receiptPdf } from "./receipt-pdf.ts";
import { statementOf } from "./statement.ts";

interface Parts {
  readonly db: Db;
  readonly brand: { readonly name: string; readonly email: string };
}

/** What the screen Billing and Usage shows (G63), one order whole, and a receipt for each payment (G86). */
export function billingRoutes(app: FastifyInstance, { db, brand }: Parts): void {
  mount(app, billing, async ({ user }) => ({
    ...success,
    ...statementOf(await readBilling(db, user.id), new Date()),
  }));

  mount(app, orderDetail, async ({ user, params: { order_id } }) => {
    const order = await readOrder(db, user.id, order_id);
    if (!order) throw notFound();
    return { ...success, order };
  });

  mount(app, receipt, async ({ user, params: { number } }) => {
    const found = await readReceipt(db, user.id, number);
    if (!found) throw notFound();
    return { name: `${found.number}.pdf`, content: await receiptPdf(found, brand) };
  });
}
