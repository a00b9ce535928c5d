import { expect, test } from "vitest";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { setup as setupMoney } from "../payments/testing/setup.ts";
import { containerRequest, type TestApp, type TestUser, testApp } from "../testing/test-app.ts";
import { readReceipt } from "./read-receipt.ts";
import { pdfLines } from "./testing/pdf-lines.ts";

async function setup(env: Record<string, string> = {}) {
  const app = await testApp(env);
  const stop = app.deliver();
  const ada = await app.signUp("Ada <b>Park</b>");
  const made = await app.rent(ada, { subdomain: "ada-lab", gpu_count: 4, duration: 6 });
  await stop();
  const { invoices } = await app.must("GET", `/billing/${ada.id}`, ada.token);
  return { ...app, ada, made, invoice: invoices[0] as { number: string; session_id: string } };
}

const read = ({ call }: TestApp, { id, token }: TestUser, number: string) =>
  call("GET", `/billing/${id}/receipts/${number}.pdf`, token);

test("a paid payment has a PDF under its invoice number, for its owner only (G86)", async () => {
  const app = await setup({ BRAND_NAME: "Pier", CONTACT_EMAIL: "hi@pier.example" });
  const { ada, made, invoice } = app;
  const answer = await read(app, ada, invoice.number);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "application/pdf",
    "content-disposition": `attachment; filename="${invoice.number}.pdf"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
  });
  const lines = pdfLines(answer.rawPayload);
  for (const said of [
    ...["Pier", "hi@pier.example", "Receipt", invoice.number, "Ada <b>Park</b>", ada.email],
    ...["jupyter Environment", "ada-lab", "4", "6 hours", "$4.50 USD", "Paid in test mode: no money moved."],
    ...[made.payment_data.razorpay_payment_id, invoice.session_id, "Pay once, nothing renews by itself."],
  ])
    expect(lines).toContain(said);

  const ben = await app.signUp("Ben");
  const absent = await read(app, ben, "INV-00000000000");
  expect([absent.statusCode, absent.json().code]).toEqual([404, "not_found"]);
  for (const number of [invoice.number, invoice.number.toUpperCase(), "", "x", "INV-", `${invoice.number}%00`]) {
    const other = await read(app, ben, number);
    expect([other.statusCode, other.body], number).toEqual([404, absent.body]);
  }
  expect((await app.call("GET", `/billing/${ada.id}/receipts/${invoice.number}.pdf`)).statusCode).toBe(401);
  expect((await app.call("GET", `/billing/${ada.id}/receipts/${invoice.number}`, ada.token)).statusCode).toBe(404);
});

test("a receipt keeps the name and address of the time of payment", async () => {
  const app = await setup();
  const { ada, invoice, db } = app;
  const before = (await read(app, ada, invoice.number)).rawPayload;
  await app.must("PUT", `/profile/${ada.id}/update`, ada.token, { name: "Somebody Else" });
  await db.updateTable("profiles").set({ email: "other@example.com" }).execute();
  expect((await read(app, ada, invoice.number)).rawPayload.equals(before)).toBe(true);
});

test("the API's description has it as a file, with its refusals", async () => {
  const { call } = await testApp();
  const { get } = (await call("GET", "/openapi.json")).json().paths["/billing/{user_id}/receipts/{number}.pdf"];
  expect(get.responses["200"].content).toEqual({ "application/pdf": { schema: { type: "string", format: "binary" } } });
  expect(Object.keys(get.responses)).toEqual(["200", "400", "401", "404", "429"]);
});

test("no receipt before the capture, one for each captured payment, with its refunds at once", async () => {
  const { db, order, pay, addPayment, provider, payments, rowOf, makeDue, runOrderPoller } = await setupMoney();
  const { id } = (await order("ada", {}, "INR")).body;
  const count = async () => (await db.selectFrom("receipts").select("number").execute()).length;
  await settlePayment(payments, await provider.payment(await addPayment(id, { status: "authorized" })));
  expect(await count()).toBe(0);
  const { body } = await pay(id);
  runOrderPoller();
  await makeDue(id);
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  const payment = await provider.payment(body.razorpay_payment_id);
  for (const _ of [1, 2]) await settlePayment(payments, payment);
  expect(await count()).toBe(1);
  const { number } = await db.selectFrom("receipts").select("number").executeTakeFirstOrThrow();
  expect(await readReceipt(db, "ada", number)).toMatchObject({
    ...{ amount_minor: 3500, currency: "INR", usd_minor: 40, inr_paise_per_usd: 8822, refunds: [] },
    ...{ session_id: null, gateway_payment_id: payment.id, customer_name: "", subdomain: "lab-ada" },
  });
  expect(await readReceipt(db, "ben", number)).toBeUndefined();

  await settlePayment(payments, await provider.payment(await addPayment(id)));
  expect(await count(), "the surplus payment").toBe(2);
  const surplus = await db
    .selectFrom("receipts")
    .select("number")
    .where("number", "!=", number)
    .executeTakeFirstOrThrow();
  const receipt = await readReceipt(db, "ada", surplus.number);
  expect(receipt).toMatchObject({ refund_minor: 3500, session_id: null, refunds: [{ amount_minor: 3500 }] });
});

test("an extension is billed with the session of the extended environment (G70, G100)", async () => {
  const app = await setup();
  const { ada, made, invoice, db } = app;
  const body = { duration: 1, amount: 0.75, currency: "USD" };
  const order = await app.must("POST", `/environments/${made.environment_id}/extend`, ada.token, body);
  const payment_data = await app.pay(order);
  const container_request = containerRequest(ada.id, { subdomain: "ada-lab", gpu_count: 4, duration: 1 });
  await app.must("POST", "/docker/environment/create", ada.token, { container_request, payment_data });
  const [more, first] = (await app.must("GET", `/billing/${ada.id}`, ada.token)).invoices;
  expect(more).toMatchObject({ amount: 0.75, session_id: invoice.session_id });
  expect(first).toMatchObject({ number: invoice.number, session_id: invoice.session_id });
  expect(await readReceipt(db, ada.id, more.number)).toMatchObject({ session_id: invoice.session_id });
});
