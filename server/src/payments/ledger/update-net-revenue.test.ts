import { expect, test } from "vitest";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup } from "../testing/setup.ts";
import { updateNetRevenue } from "./update-net-revenue.ts";

test("net revenue falls with a refund and does not rise when the refund fails", async () => {
  const { order, pay, payments, provider, rowOf, db } = await setup();
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  const net = async (refund_minor: number) => {
    await db.transaction().execute(async (tx) => {
      const payment = await tx.updateTable("payments").set({ refund_minor }).returning("id").executeTakeFirstOrThrow();
      await updateNetRevenue(tx, payment.id);
    });
    return (await rowOf(id)).usd_net_minor;
  };
  expect(await net(0)).toBe(40);
  expect(await net(30)).toBe(10);
  expect(await net(10)).toBe(10);
  expect(await net(40)).toBe(0);
  await db.updateTable("payments").set({ refund_minor: 0 }).execute();
});
