import { sql } from "kysely";
import { expect, test } from "vitest";
import { testApp } from "../testing.ts";

test("paid, delivered, run: the statement says so with the references, and to its owner only (G63, G70)", async () => {
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
