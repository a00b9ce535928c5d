import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import type { Db, Tx } from "../../database/database.ts";
import { DialectError } from "./dialect-error.ts";
import { collection, dialectId, type PaymentRow, paymentEntity, type RefundRow, refundEntity } from "./entities.ts";
import { outcomeOf } from "./outcomes.ts";
import { dialectIdText, listed, minorUnits, notes, readInput } from "./read-input.ts";
import { queueWebhook } from "./webhook-sender.ts";

const path = z.object({ id: dialectIdText });
const captureBody = z.object({ amount: minorUnits, currency: z.string() });
const refundBody = z.object({
  amount: minorUnits.pipe(z.int().min(1)).optional(),
  speed: z.enum(["normal", "optimum"]).default("normal"),
  notes,
  receipt: z.string().max(40).optional(),
});
const refundKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{10,}$/, "at least 10 letters, digits, - or _")
  .optional();

const pendingMs = 86_400_000;
const lowBalance = "Your account does not have enough balance to carry out the refund operation.";

export function merchantPaymentRoutes(app: FastifyInstance, db: Db): void {
  app.get("/payments", async (request) => {
    const { from, to, count, skip } = readInput(listed, request.query);
    let query = db
      .selectFrom("embedded_gateway_payments")
      .selectAll()
      .orderBy("created_at", "desc")
      .orderBy("id")
      .limit(count)
      .offset(skip);
    if (from !== undefined) query = query.where("created_at", ">=", new Date(from * 1000));
    // Entities have whole seconds, so the last second is included.
    if (to !== undefined) query = query.where("created_at", "<", new Date((to + 1) * 1000));
    return collection((await query.execute()).map(paymentEntity));
  });

  app.get("/payments/:id", async (request) => paymentEntity(await findPayment(db, request.params)));

  app.post("/payments/:id/capture", async (request) => {
    const { amount, currency } = readInput(captureBody, request.body);
    return db.transaction().execute(async (tx) => {
      const row = await lockPayment(tx, request.params);
      if (row.status !== "authorized")
        throw new DialectError("This payment has already been captured, or was never authorized");
      if (amount !== row.amount_minor || currency !== row.currency)
        throw new DialectError("Capture amount must be equal to the amount authorized");
      await tx.updateTable("embedded_gateway_orders").set({ status: "paid" }).where("id", "=", row.order_id).execute();
      const captured = tx.updateTable("embedded_gateway_payments").set({ status: "captured" }).where("id", "=", row.id);
      const payment = paymentEntity(await captured.returningAll().executeTakeFirstOrThrow());
      await queueWebhook(tx, { event: "payment.captured", entities: { payment } });
      return payment;
    });
  });
}

/** `delayMs`: how long a refund stays pending, so that polling a refund is exercised here too. */
export function merchantRefundRoutes(app: FastifyInstance, db: Db, delayMs: number): void {
  app.post("/payments/:id/refund", async (request) => {
    const body = readInput(refundBody, request.body ?? {});
    const key = readInput(refundKey, request.headers["x-refund-idempotency"]) ?? null;
    return db.transaction().execute(async (tx) => {
      const payment = await lockPayment(tx, request.params);
      const before = key === null ? undefined : await findByKey(tx, payment.id, key);
      const left = payment.amount_minor - payment.refunded_minor;
      const amount = body.amount ?? (before?.amount_minor || left);
      const refund = { key, amount, receipt: body.receipt ?? null, notes: body.notes, speed: body.speed };
      if (before && !isSameRefund(before, refund))
        throw new DialectError("Different request body sent for the same idempotency header");
      if (before) return refundEntity(before, payment.currency, new Date());
      refuseRefund(payment, amount);
      return refundEntity(await makeRefund(tx, payment, refund, delayMs), payment.currency, new Date());
    });
  });

  app.get("/payments/:id/refunds", async (request) => {
    const payment = await findPayment(db, request.params);
    const { count, skip } = readInput(listed, request.query);
    const rows = await db
      .selectFrom("embedded_gateway_refunds")
      .selectAll()
      .where("payment_id", "=", payment.id)
      .orderBy("created_at", "desc")
      .orderBy("id")
      .limit(count)
      .offset(skip)
      .execute();
    return collection(rows.map((row) => refundEntity(row, payment.currency, new Date())));
  });

  app.get("/refunds/:id", async (request) => {
    const { id } = readInput(path, request.params);
    const row = await db.selectFrom("embedded_gateway_refunds").selectAll().where("id", "=", id).executeTakeFirst();
    if (!row) throw new DialectError("The id provided does not exist");
    return refundEntity(row, (await findPayment(db, { id: row.payment_id })).currency, new Date());
  });
}

interface NewRefund {
  readonly key: string | null;
  readonly amount: number;
  readonly receipt: string | null;
  readonly notes: Readonly<Record<string, string>>;
  readonly speed: "normal" | "optimum";
}

/** An idempotency key is bound to one request body. */
function isSameRefund(row: RefundRow, { amount, receipt, notes, speed }: NewRefund): boolean {
  const { amount_minor, receipt: before, speed: fast } = row;
  return amount_minor === amount && before === receipt && fast === speed && isDeepStrictEqual(row.notes, notes);
}

async function makeRefund(
  tx: Tx,
  payment: PaymentRow,
  { key, amount, receipt, notes, speed }: NewRefund,
  delayMs: number,
): Promise<RefundRow> {
  const outcome = await outcomeOf(tx, payment.order_id);
  if (outcome === "refund_refused") throw new DialectError(lowBalance, { reason: "insufficient_balance" });
  const fails = outcome === "refund_failed";
  const after = await tx
    .updateTable("embedded_gateway_payments")
    .set({ refunded_minor: payment.refunded_minor + (fails ? 0 : amount) })
    .where("id", "=", payment.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const row = await tx
    .insertInto("embedded_gateway_refunds")
    .values({
      id: dialectId("rfnd"),
      payment_id: payment.id,
      amount_minor: amount,
      idempotency_key: key,
      receipt,
      notes: JSON.stringify(notes),
      speed,
      arrives_at: new Date(Date.now() + (outcome === "refund_pending" ? pendingMs : delayMs)),
      fails,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await queueRefundWebhooks(tx, row, after);
  return row;
}

async function lockPayment(tx: Tx, params: unknown): Promise<PaymentRow> {
  const { id } = readInput(path, params);
  const query = tx.selectFrom("embedded_gateway_payments").selectAll().where("id", "=", id).forUpdate();
  return (await query.executeTakeFirst()) ?? missing();
}

/** Queues the webhook of the creation, and the later one of success or failure. */
async function queueRefundWebhooks(tx: Tx, row: RefundRow, payment: PaymentRow): Promise<void> {
  for (const [event, at] of [
    ["refund.created", row.created_at],
    [row.fails ? "refund.failed" : "refund.processed", row.arrives_at],
  ] as const)
    await queueWebhook(tx, {
      event,
      entities: { refund: refundEntity(row, payment.currency, at), payment: paymentEntity(payment) },
      notBefore: at,
    });
}

function findByKey(tx: Tx, paymentId: string, key: string) {
  return tx
    .selectFrom("embedded_gateway_refunds")
    .selectAll()
    .where("payment_id", "=", paymentId)
    .where("idempotency_key", "=", key)
    .executeTakeFirst();
}

function refuseRefund(payment: PaymentRow, amount: number): void {
  if (payment.status !== "captured")
    throw new DialectError("The payment status should be captured for action to be taken");
  const left = payment.amount_minor - payment.refunded_minor;
  if (left === 0) throw new DialectError("The payment has been fully refunded already");
  if (amount > left) throw new DialectError("The total refund amount is greater than the refund payment amount");
}

function missing(): never {
  throw new DialectError("The id provided does not exist");
}

async function findPayment(db: Db, params: unknown): Promise<PaymentRow> {
  const { id } = readInput(path, params);
  const row = await db.selectFrom("embedded_gateway_payments").selectAll().where("id", "=", id).executeTakeFirst();
  return row ?? missing();
}
