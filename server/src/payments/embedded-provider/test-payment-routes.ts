import type { FastifyInstance } from "fastify";
import * as z from "zod";
import type { Db } from "../../database/database.ts";
import { DialectError } from "./dialect-error.ts";
import { dialectId, paymentEntity } from "./entities.ts";
import { dialectIdText, readInput } from "./read-input.ts";
import { queueWebhook } from "./webhook-sender.ts";

const newPayment = z.object({
  order_id: dialectIdText,
  status: z.enum(["created", "authorized", "captured", "failed"]),
  amount: z.int().min(1).optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "a currency code")
    .optional(),
});

/** Creates payments that the dialog cannot: a second one of a paid order, another amount, authorized only. */
export function testPaymentRoutes(app: FastifyInstance, db: Db): void {
  app.post("/test/payments", async (request) => {
    const { order_id, status, amount, currency } = readInput(newPayment, request.body);
    return db.transaction().execute(async (tx) => {
      const orders = tx.selectFrom("embedded_gateway_orders").selectAll().where("id", "=", order_id).forUpdate();
      const order = await orders.executeTakeFirst();
      if (!order) throw new DialectError("The id provided does not exist");
      const row = await tx
        .insertInto("embedded_gateway_payments")
        .values({
          id: dialectId("pay"),
          order_id,
          status,
          amount_minor: amount ?? order.amount_minor,
          currency: currency ?? order.currency,
          card_network: "Visa",
          card_last4: "1111",
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await queueWebhook(tx, { event: `payment.${status}`, entities: { payment: paymentEntity(row) } });
      return paymentEntity(row);
    });
  });
}
