import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import * as z from "zod";
import type { Db } from "../../database/database.ts";
import { DialectError } from "./dialect-error.ts";
import { collection, dialectId, type OrderRow, orderEntity, paymentEntity } from "./entities.ts";
import { dialectIdText, listed, minorUnits, notes, readInput } from "./read-input.ts";

const receiptText = z
  .string()
  .max(40)
  .regex(/^[\x20-\x7e]*$/, "printable ASCII");
const newOrder = z.object({
  amount: minorUnits.pipe(z.int().min(1).max(1_000_000_000)),
  currency: z.string().regex(/^[A-Z]{3}$/, "a currency code"),
  receipt: receiptText.optional(),
  notes,
  payment: z.object({ capture: z.enum(["automatic", "manual"]) }).optional(),
});
const filter = listed.extend({
  receipt: receiptText.optional(),
  /** Whether a payment of it was authorized. */
  authorized: z.enum(["0", "1"]).optional(),
  "expand[]": z.union([z.string(), z.array(z.string())]).optional(),
});
const path = z.object({ id: dialectIdText });

export function merchantOrderRoutes(app: FastifyInstance, db: Db): void {
  app.post("/orders", async (request) => {
    const { amount, currency, receipt, notes, payment } = readInput(newOrder, request.body);
    const row = await db
      .insertInto("embedded_gateway_orders")
      .values({
        id: dialectId("order"),
        receipt: receipt ?? null,
        amount_minor: amount,
        currency,
        capture: payment?.capture ?? "manual",
        notes: JSON.stringify(notes),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return orderEntity(row);
  });

  app.get("/orders", async (request) => {
    const query = readInput(filter, request.query);
    const rows = await listOrders(db, query);
    if (![query["expand[]"]].flat().includes("payments")) return collection(rows.map(orderEntity));
    return collection(
      await Promise.all(rows.map(async (row) => ({ ...orderEntity(row), payments: await paymentsOf(row) }))),
    );
  });

  app.get("/orders/:id", async (request) => orderEntity(await find(request.params)));
  app.get("/orders/:id/payments", async (request) => paymentsOf(await find(request.params)));

  async function find(params: unknown): Promise<OrderRow> {
    const { id } = readInput(path, params);
    const row = await db.selectFrom("embedded_gateway_orders").selectAll().where("id", "=", id).executeTakeFirst();
    if (!row) throw new DialectError("The id provided does not exist");
    return row;
  }

  async function paymentsOf({ id }: OrderRow) {
    const rows = await db
      .selectFrom("embedded_gateway_payments")
      .selectAll()
      .where("order_id", "=", id)
      .orderBy("created_at", "desc")
      .execute();
    return collection(rows.map(paymentEntity));
  }
}

function listOrders(db: Db, { receipt, authorized, from, to, count, skip }: z.output<typeof filter>) {
  let query = db
    .selectFrom("embedded_gateway_orders")
    .selectAll()
    .orderBy("created_at", "desc")
    .limit(count)
    .offset(skip);
  if (receipt !== undefined) query = query.where("receipt", "=", receipt);
  if (authorized !== undefined)
    query = query.where(sql<boolean>`(${authorized === "1"} = exists (select from embedded_gateway_payments p
      where p.order_id = embedded_gateway_orders.id and p.status in ('authorized', 'captured')))`);
  if (from !== undefined) query = query.where("created_at", ">=", new Date(from * 1000));
  if (to !== undefined) query = query.where("created_at", "<=", new Date(to * 1000));
  return query.execute();
}
