import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "./testing.ts";

/** A paid order with its environment, and a draft of another user. */
const before = [
  order({ id: "paid", user_id: "ada", status: "fulfilled", paid_at: "now", gateway_order_id: "order_1" }),
  order({ id: "draft", user_id: "ben", status: "draft" }),
  payment({ id: "first", gateway_payment_id: "pay_1", settles_order: "true" }),
  payment({ id: "second", gateway_payment_id: "pay_2" }),
  "insert into hosts (id, kind) values ('host', 'fake')",
  "insert into gpus (id, host_id, kind) values ('gpu', 'host', 'gpu')",
  "insert into gpu_leases (id, gpu_id, holder_kind, holder_id) values ('lease', 'gpu', 'order', 'paid')",
  environment({ id: "aaaaaaaa1", order_id: "paid", subdomain: "lab" }),
  refund({ id: "refund", reason: "cancelled" }),
  credit({ id: "credit", order_id: "paid", used_by_order: "draft" }),
];

/** Invariants that constraints of the database enforce (docs/internals/money.md). */
test.each([
  [
    "two holders of one GPU",
    "one_lease_per_gpu",
    "insert into gpu_leases (id, gpu_id, holder_kind, holder_id) values ('l', 'gpu', 'order', 'draft')",
  ],
  [
    "a second unpaid order of a user",
    "one_unpaid_order_per_user",
    order({ id: "more", user_id: "ben", status: "draft" }),
  ],
  [
    "a provider's order twice",
    "orders_gateway_gateway_order_id_key",
    order({ id: "more", status: "open", gateway_order_id: "order_1" }),
  ],
  [
    "a paid state without a date",
    "orders_check",
    order({ id: "more", status: "fulfilled", gateway_order_id: "order_2" }),
  ],
  [
    "a date without a paid state",
    "orders_check",
    order({ id: "more", status: "open", paid_at: "now", gateway_order_id: "order_2" }),
  ],
  [
    "a paid order that leaves the queue",
    "orders_check1",
    "update orders set status = 'paid', due_at = null where id = 'paid'",
  ],
  ["an open order that leaves the queue", "orders_check1", "update orders set due_at = null where id = 'draft'"],
  [
    "an open order that the provider does not know",
    "orders_check2",
    "update orders set status = 'open' where id = 'draft'",
  ],
  ["a second settling payment", "one_settling_payment", "update payments set settles_order = true where id = 'second'"],
  [
    "one payment twice",
    "payments_gateway_gateway_payment_id_key",
    payment({ id: "third", gateway_payment_id: "pay_1" }),
  ],
  [
    "two payments with one invoice number",
    "payments_invoice_number",
    [
      payment({ id: "12345678901a", gateway_payment_id: "pay_3" }),
      payment({ id: "12345678901b", gateway_payment_id: "pay_4" }),
    ],
  ],
  ["a refund above the payment", "payments_check", "update payments set refund_minor = 41 where id = 'first'"],
  ["a negative refund", "payments_check", "update payments set refund_minor = -1 where id = 'first'"],
  [
    "a settling payment that is not captured",
    "payments_check1",
    "update payments set status = 'authorized' where id = 'first'",
  ],
  ["a second refund for one reason", "one_refund_per_reason", refund({ id: "again", reason: "cancelled" })],
  ["a refund that is owed and leaves the queue", "refunds_check1", "update refunds set due_at = null"],
  ["a refund that has arrived without a date", "refunds_check", "update refunds set status = 'processed'"],
  ["a second credit for one order", "time_credits_order_id_reason_key", credit({ id: "again", order_id: "paid" })],
  [
    "two credits for one delivery",
    "time_credits_used_by_order_key",
    credit({ id: "again", order_id: "draft", used_by_order: "draft" }),
  ],
  [
    "a second environment of an order",
    "environments_order_id_key",
    environment({ id: "bbbbbbbb1", order_id: "paid", subdomain: "other" }),
  ],
  [
    "a second live environment of a subdomain",
    "one_live_environment_per_name",
    environment({ id: "bbbbbbbb1", order_id: "draft", subdomain: "lab" }),
  ],
  [
    "two environments with one short name",
    "environments_display_name",
    environment({ id: "aaaaaaaa2", order_id: "draft", subdomain: "other" }),
  ],
])("refused: %s", async (_, constraint, statements) => {
  await using database = await testDatabase();
  for (const statement of before) await sql.raw(statement).execute(database.db);
  const run = async () => {
    for (const statement of [statements].flat()) await sql.raw(statement).execute(database.db);
  };
  await expect(run()).rejects.toMatchObject({ constraint });
});

function order(row: Readonly<Record<string, string>>): string {
  return insert("orders", {
    ...{ user_id: "eve", container_type: "jupyter", subdomain: "lab", gpu_count: "1", duration_hours: "1" },
    ...{ usd_minor: "40", amount_minor: "40", currency: "USD", inr_paise_per_usd: "8822", request_hash: "" },
    ...{ gateway: "embedded", mode: "embedded", hold_until: "now", watch_until: "now", due_at: "now" },
    ...row,
  });
}

function payment(row: Readonly<Record<string, string>>): string {
  const rest = { gateway: "embedded", status: "captured", amount_minor: "40", currency: "USD" };
  return insert("payments", { order_id: "paid", user_id: "ada", ...rest, ...row });
}

function refund(row: Readonly<Record<string, string>>): string {
  const rest = { amount_minor: "1", currency: "USD", status: "queued", due_at: "now" };
  return insert("refunds", { payment_id: "first", ...rest, ...row });
}

function credit(row: Readonly<Record<string, string>>): string {
  return insert("time_credits", { user_id: "ada", gpu_hours: "2", reason: "not_delivered", ...row });
}

function environment(row: Readonly<Record<string, string>>): string {
  return insert("environments", {
    ...{ user_id: "ada", container_type: "jupyter", gpu_count: "1", duration_hours: "1", host_id: "host" },
    ...{ home: "home", secret: "", give_up_at: "now", ...row },
  });
}

function insert(table: string, row: Readonly<Record<string, string>>): string {
  const values = Object.values(row).map((value) => `'${value}'`);
  return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values.join(", ")})`;
}
