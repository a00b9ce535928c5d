import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup() {
  const product = await testApp();
  const { db } = product;
  const run = await commandRunner(db);
  const stop = product.deliver();
  const ada = await product.signUp();
  const rented = await product.rent(ada, { gpu_count: 1, duration: 24 });
  await stop();
  const order = await db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  return { ...product, run, ada, rented, order };
}

test("an order is found by every id and name that a customer may send, and shown with its timeline", async () => {
  const { db, run, ada, rented, order } = await setup();
  const receipt = await db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  const { razorpay_payment_id, razorpay_order_id } = rented.payment_data;
  const words = [order.id, razorpay_order_id, razorpay_payment_id, receipt.number, rented.environment_id, "first-lab"];
  for (const word of [...words, ada.id, ada.email.toUpperCase()])
    expect(JSON.parse((await run("orders", "find", word, "--json")).stdout), word).toMatchObject([{ id: order.id }]);
  expect((await run("orders", "find", "first")).stdout).toBe("There is no such order");
  expect((await run("orders", "find", order.id)).stdout).toMatch(
    /fulfilled .* first-lab .*jupyter, 1 slot, 24 h +\$4\.80 +\$4\.80 +-$/,
  );
  const shown = (await run("order", razorpay_order_id)).stdout;
  for (const part of [order.id, ada.email, receipt.number, "ordered", "paid", "delivered"])
    expect(shown).toContain(part);
  expect(JSON.parse((await run("order", order.id, "--json")).stdout)).toMatchObject({
    gateway_order_id: razorpay_order_id,
    id: order.id,
    email: ada.email,
    amount: 4.8,
  });
  expect(await run("order", "order_AAAAAAAAAAAAAA")).toMatchObject({ code: 1, stderr: /There is no order/ });
  // A second payment, and what went back of it.
  await sql`
    insert into payments (id, order_id, user_id, gateway, gateway_payment_id, status, amount_minor, currency, captured_at, refund_minor)
    select ${newId()}, order_id, user_id, gateway, 'pay_again', status, amount_minor, currency, now(), amount_minor
    from payments where order_id = ${order.id}`.execute(db);
  expect((await run("orders", "find", order.id)).stdout).toMatch(
    / amount +paid +refunded\n.* \$4\.80 +\$9\.60 +\$4\.80$/,
  );
  // Only an installation without GPUs rents slots (G307).
  await sql`update gpus set kind = 'gpu'`.execute(db);
  expect((await run("orders", "find", order.id)).stdout).toContain("jupyter, 1 GPU, 24 h");
});

test("the refund calculator says what would go back now and later, and changes nothing", async () => {
  const { db, run, rows, order } = await setup();
  await db
    .updateTable("environments")
    .set({ expires_at: new Date(Date.now() + 12 * 3_600_000 + 170_000) })
    .execute();
  const before = await rows();
  const calculate = async (...options: string[]) =>
    JSON.parse((await run("refunds", "calculate", order.id, "--json", ...options)).stdout);
  expect(await calculate()).toMatchObject({
    paidMinor: 480,
    refundedMinor: 0,
    fullMinor: 480,
    proratedMinor: 240,
    runs: true,
  });
  const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  expect(await calculate("--at", later(6))).toMatchObject({ proratedMinor: 120 });
  expect(await calculate("--at", later(13))).toMatchObject({ proratedMinor: 0, fullMinor: 480 });
  expect((await run("refunds", "calculate", order.id)).stdout).toMatch(
    /prorated \$2\.40: 12\.0\d of 24\.00 hours are not used[\s\S]*Its clock runs: later it is less\./,
  );
  await db
    .updateTable("environments")
    .set({ expires_at: null, banked_seconds: 6 * 3600 })
    .execute();
  expect(await calculate("--at", later(6))).toMatchObject({ proratedMinor: 120, runs: false });
  await db.updateTable("environments").set({ expires_at: new Date(), banked_seconds: 0 }).execute();
  expect(await calculate()).toMatchObject({ proratedMinor: 0 });
  const { environments, ...others } = await rows();
  expect(others).toEqual((({ environments: _, ...rest }) => rest)(before));
  expect(await run("refunds", "calculate", order.id, "--at", "soon")).toMatchObject({ code: 2 });
  expect(await run("refunds", "calculate", "nothing")).toMatchObject({
    code: 1,
    stderr: "There is no paid order nothing",
  });
});

test("a receipt is mailed again, and the act is recorded", async () => {
  const { db, run, order, ada } = await setup();
  await db.deleteFrom("mails").execute();
  const receipt = await db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  for (const _ of [1, 2])
    expect(await run("orders", "resend", order.id)).toMatchObject({
      code: 0,
      stdout: `The receipt ${receipt.number} is in its owner's bell only: mail is off, because SMTP_URL is not set`,
    });
  const mail = {
    recipient: ada.email,
    subject: `Receipt ${receipt.number}`,
    body_text: expect.stringContaining(`/billing/orders/${order.id}`),
  };
  expect(await db.selectFrom("mails").select(["recipient", "subject", "body_text"]).execute()).toEqual([mail, mail]);
  expect(await db.selectFrom("audit").select("act").execute()).toEqual([
    { act: "order.resend" },
    { act: "order.resend" },
  ]);
  expect(await run("orders", "resend", "nothing")).toMatchObject({ code: 1 });
});

test("disputes are listed by the day to respond, and revenue by day and currency", async () => {
  const { db, run, order, ada } = await setup();
  const payment = await db.selectFrom("payments").selectAll().executeTakeFirstOrThrow();
  const dispute = {
    gateway: "embedded",
    payment_id: payment.id,
    user_id: ada.id,
    phase: "chargeback",
    amount_minor: 480,
    currency: "USD",
  };
  const at = new Date();
  await db
    .insertInto("disputes")
    .values([
      { ...dispute, id: "a", gateway_dispute_id: "disp_a", status: "open", created_at: at, respond_by: at },
      { ...dispute, id: "b", gateway_dispute_id: "disp_b", status: "won", created_at: at, closed_at: at },
    ])
    .execute();
  const list = async (...options: string[]) =>
    JSON.parse((await run("disputes", "--json", ...options)).stdout).map(
      (each: { gateway_dispute_id: string }) => each.gateway_dispute_id,
    );
  expect([await list(), await list("--all")]).toEqual([["disp_a"], ["disp_a", "disp_b"]]);
  expect((await run("disputes")).stdout).toContain(order.id);

  const day = (payment.captured_at ?? at).toISOString().slice(0, 10);
  const csv = (await run("revenue", "2020-01-01", "2999-01-01", "--csv")).stdout;
  expect(csv.split("\n")).toEqual([
    "day,currency,payments,paid_minor,refunded_minor,disputed_minor",
    `${day},USD,1,480,0,0`,
  ]);
  expect((await run("revenue", "2020-01-01", "2999-01-01")).stdout).toContain("$4.80");
  expect((await run("revenue", "2020-01-01", "2020-02-01")).stdout).toBe("No money moved");
  expect(await run("revenue", "2020-02-01", "2020-01-01")).toMatchObject({
    code: 2,
    stderr: "2020-02-01 is not before 2020-01-01.",
  });
});
