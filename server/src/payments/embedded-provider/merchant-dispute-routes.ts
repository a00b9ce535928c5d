import type { FastifyInstance } from "fastify";
import * as z from "zod";
import type { Db, Tx } from "../../database/database.ts";
import { DialectError } from "./dialect-error.ts";
import { collection, type DisputeRow, dialectId, disputeEntity, type PaymentRow, paymentEntity } from "./entities.ts";
import { dialectIdText, readInput } from "./read-input.ts";
import { queueWebhook } from "./webhook-sender.ts";

const path = z.object({ id: dialectIdText });
const filter = z.object({ count: z.coerce.number().int().min(1).max(100).default(10) });
const opening = z.object({
  payment_id: dialectIdText,
  amount: z.int().min(1).optional(),
  reason_code: z.string().max(80).default("goods_or_services_not_received_or_partially_received"),
  phase: z.enum(["fraud", "retrieval", "chargeback", "pre_arbitration", "arbitration"]).default("chargeback"),
});
/** `action_required` is an event, not a status: the dispute becomes open again until there is more evidence. */
const advancing = z.object({ status: z.enum(["under_review", "action_required", "won", "lost", "closed"]) });

/**
 * Disputes: the provider's two reads, and two test calls that open and advance a dispute, each with its webhook. A lost
 * dispute takes the whole disputed amount, despite earlier refunds.
 */
export function merchantDisputeRoutes(app: FastifyInstance, db: Db): void {
  app.get("/disputes", async (request) => {
    const { count } = readInput(filter, request.query);
    const rows = db.selectFrom("embedded_gateway_disputes").selectAll().orderBy("created_at", "desc").limit(count);
    return collection(await Promise.all((await rows.execute()).map((row) => entityOf(db, row))));
  });

  app.get("/disputes/:id", async (request) => {
    const { id } = readInput(path, request.params);
    const row = await db.selectFrom("embedded_gateway_disputes").selectAll().where("id", "=", id).executeTakeFirst();
    return entityOf(db, row ?? missing());
  });

  app.post("/test/disputes", async (request) => {
    const { payment_id, amount, ...rest } = readInput(opening, request.body);
    return db.transaction().execute(async (tx) => {
      const payment = await paymentOf(tx, payment_id);
      if (payment.status !== "captured" || (amount ?? 0) > payment.amount_minor)
        throw new DialectError("Only a captured payment can be disputed, for no more than its amount");
      const values = { id: dialectId("disp"), payment_id, amount_minor: amount ?? payment.amount_minor, ...rest };
      const row = tx.insertInto("embedded_gateway_disputes").values(values).returningAll();
      return withEvent(tx, "created", await row.executeTakeFirstOrThrow(), payment);
    });
  });

  app.post("/test/disputes/:id", async (request) => {
    const { id } = readInput(path, request.params);
    const { status: event } = readInput(advancing, request.body);
    return db.transaction().execute(async (tx) => {
      const rows = tx.selectFrom("embedded_gateway_disputes").selectAll().where("id", "=", id).forUpdate();
      const before = (await rows.executeTakeFirst()) ?? missing();
      if (before.status !== "open" && before.status !== "under_review")
        throw new DialectError("The dispute has been decided already");
      const change = {
        status: event === "action_required" ? ("open" as const) : event,
        deducted_minor: event === "lost" ? before.amount_minor : 0,
      };
      const row = tx.updateTable("embedded_gateway_disputes").set(change).where("id", "=", id).returningAll();
      return withEvent(tx, event, await row.executeTakeFirstOrThrow(), await paymentOf(tx, before.payment_id));
    });
  });
}

async function withEvent(tx: Tx, event: string, row: DisputeRow, payment: PaymentRow) {
  const dispute = disputeEntity(row, payment.currency);
  await queueWebhook(tx, { event: `payment.dispute.${event}`, entities: { payment: paymentEntity(payment), dispute } });
  return dispute;
}

async function entityOf(db: Db, row: DisputeRow) {
  return disputeEntity(row, (await paymentOf(db, row.payment_id)).currency);
}

async function paymentOf(db: Db | Tx, id: string): Promise<PaymentRow> {
  const row = await db.selectFrom("embedded_gateway_payments").selectAll().where("id", "=", id).executeTakeFirst();
  return row ?? missing();
}

function missing(): never {
  throw new DialectError("The id provided does not exist");
}
