import { expect, test } from "vitest";
import { syncDispute } from "../payments/settlement/dispute-poller.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { paymentsCsv } from "./payments-csv.ts";
import { setup } from "./testing/setup-order-page.ts";

test("every payment and refund of an account is a line with a signed amount, and nothing of others (G334)", async () => {
  const { db, paid, payments, provider, order, addPayment } = await setup();
  const rupees = await paid("ada", { subdomain: "first-lab", gpu_count: 2, duration: 6 }, "INR");
  const id = rupees.proof.razorpay_payment_id;
  await provider.refund({ paymentId: id, amountMinor: 5050, key: "from-the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(id));
  await paid("ada", { subdomain: "second-lab", gpu_count: 1 });
  await paid("ben");
  const declined = await addPayment((await order("ada", { subdomain: "third-lab" })).body.id, { status: "failed" });
  await settlePayment(payments, await provider.payment(declined));

  const [head, ...lines] = (await paymentsCsv(db, "ada")).split("\r\n");
  expect(head).toBe("date,kind,status,amount,currency,number,environment,type,gpus,hours,order,payment_reference");
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  const tail = (name: string, rest: string) => `${name},jupyter,${rest},[0-9a-z]{25},pay_\\w+$`;
  const found = lines.filter((line) => line !== "");
  expect(found).toHaveLength(3);
  const byKind = (kind: string, name: string) =>
    found.find((line) => line.includes(`,${kind},`) && line.includes(name));
  expect(byKind("payment", "first-lab")).toMatch(
    new RegExp(`^${time},payment,paid,212\\.00,INR,INV-\\w{11},${tail("first-lab", "2,6")}`),
  );
  expect(byKind("refund", "first-lab")).toMatch(
    new RegExp(`^${time},refund,(processed|pending),-50\\.50,INR,(CRN-\\w+)?,${tail("first-lab", "2,6")}`),
  );
  expect(byKind("payment", "second-lab")).toMatch(
    new RegExp(`^${time},payment,paid,0\\.20,USD,INV-\\w{11},${tail("second-lab", "1,1")}`),
  );
  expect((await paymentsCsv(db, "cara")).split("\r\n")).toEqual([head, ""]);
});

test("a refund that a bank made needless is no movement, what the bank took is one (G334)", async () => {
  const { db, payments, provider, order, addPayment, asMerchant, runRefundSender, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  const payment_id = await addPayment(id, { amount_minor: 39 });
  await settlePayment(payments, await provider.payment(payment_id));
  const dispute = (await asMerchant("POST", "/test/disputes", { payment_id })).body.id;
  await asMerchant("POST", `/test/disputes/${dispute}`, { status: "lost" });
  await syncDispute(payments, dispute);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  const lines = (await paymentsCsv(db, "ada")).split("\r\n").slice(1, -1);
  expect(lines.map((line) => line.split(",").slice(1, 4).join(" "))).toEqual([
    "payment paid 0.39",
    "dispute lost -0.39",
  ]);
});
