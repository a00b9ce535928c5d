import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { testApp } from "../testing/test-app.ts";

test("paid, delivered, run: the statement shows it with the references, to its owner only (G63, G70)", async () => {
  const app = await testApp();
  const stop = app.deliver();
  const [ada, ben] = [await app.signUp("Ada"), await app.signUp("Ben")];
  const made = await app.rent(ada, { subdomain: "ada-lab", gpu_count: 4, duration: 6 });
  await stop();
  await app.db.updateTable("sessions").set({ opened_at: sql`now() - interval '90 minutes'` }).execute();
  const detail = await app.must("GET", `/environments/${made.environment_id}`, ada.token);
  const statement = await app.must("GET", `/billing/${ada.id}`, ada.token);
  expect(statement).toMatchObject({
    status: "success",
    currentMonthUsage: 4.5,
    totalSpent: 4.5,
    paymentCount: 1,
    trend: { trend: "up", changePercent: 100 },
    usageBreakdown: [{ service: "jupyter", usage: 6, run: 1.5, cost: 4.5, unit: "hours" }],
    recentPayments: [{ amount: 4.5, status: "paid" }],
  });
  expect(statement.invoices).toMatchObject([
    {
      amount: 4.5,
      currency: "USD",
      status: "Paid",
      description: "jupyter Environment",
      duration: "6 hours",
      payment_reference: made.payment_data.razorpay_payment_id,
      session_id: detail.environment.session_id,
    },
  ]);
  expect(statement.chartData).toHaveLength(6);
  expect((await app.must("GET", `/billing/${ben.id}`, ben.token)).invoices).toEqual([]);
  const foreign = await app.call("GET", `/billing/${ada.id}`, ben.token);
  const absent = await app.call("GET", "/billing/nobody", ben.token);
  expect([foreign.statusCode, foreign.body]).toEqual([404, absent.body]);
  expect((await app.call("GET", `/billing/${ada.id}`)).statusCode).toBe(401);
});

test("an order is read by its owner under our id and the provider's, and is absent for everybody else", async () => {
  const app = await testApp();
  const stop = app.deliver();
  const [ada, ben] = [await app.signUp("Ada"), await app.signUp("Ben")];
  const made = await app.rent(ada, { subdomain: "ada-lab", gpu_count: 4, duration: 6 });
  await stop();
  const [invoice] = (await app.must("GET", `/billing/${ada.id}`, ada.token)).invoices;
  const { order } = await app.must("GET", `/orders/${invoice.order_id}`, ada.token);
  expect(order).toMatchObject({
    ...{ id: invoice.order_id, state: "delivered", amount: 4.5, currency: "USD", receipts: [invoice.number] },
    references: { payment: invoice.payment_reference, session: invoice.session_id, invoice: invoice.number },
  });
  const theirs = made.payment_data.razorpay_order_id;
  expect((await app.must("GET", `/orders/${theirs}`, ada.token)).order).toEqual(order);
  const absent = await app.call("GET", `/orders/${newId()}`, ben.token);
  expect([absent.statusCode, absent.json().code]).toEqual([404, "not_found"]);
  for (const id of [order.id, theirs, "order_AAAAAAAAAAAAAA", "x", "%00", "..%2fx", "\u{1f680}"]) {
    const answer = await app.call("GET", `/orders/${encodeURI(id)}`, ben.token);
    expect([answer.statusCode, answer.body], id).toEqual([404, absent.body]);
  }
  expect((await app.call("GET", `/orders/${order.id}`)).statusCode).toBe(401);
});
