import { expect, test } from "vitest";
import { grantRefund } from "../payments/refunds/grant-refund.ts";
import { startRefundSender } from "../payments/refunds/refund-sender.ts";
import { testApp } from "../testing/test-app.ts";

test("the log has a line for each step from the sign-up to the refund, with ids and nothing personal", async () => {
  const app = await testApp();
  app.deliver();
  const ada = await app.signUp("Ada Lovelace");
  const { environment_id: environmentId, jupyter_token, payment_data } = await app.rent(ada);
  const { db, payments } = app;
  const { id: orderId } = await db.selectFrom("orders").select("id").executeTakeFirstOrThrow();
  await app.must("POST", `/environments/${environmentId}/terminate`, ada.token, { confirm: "first-lab" });
  const decision = {
    db,
    announce: payments.announce,
    author: { actor: "cli:test", reason: "" },
    orderId,
    message: "",
    again: false,
  };
  await expect.poll(() => app.lines().some(({ event }) => event === "environment.ended")).toBe(true);
  await grantRefund(decision, "full");
  await using _ = { [Symbol.asyncDispose]: startRefundSender(payments).stop };
  await expect.poll(() => app.lines().some(({ event }) => event === "refund.arrived")).toBe(true);

  const { id: refundId } = await db.selectFrom("refunds").select("id").executeTakeFirstOrThrow();
  for (const line of [
    { event: "user.signed_up", userId: ada.id, requestId: expect.any(String) },
    { event: "order.opened", orderId, userId: ada.id },
    { event: "order.paid", orderId },
    { event: "environment.ready", environmentId, orderId, hostId: "local" },
    { event: "environment.ended", environmentId, orderId, hostId: "local" },
    { event: "refund.arrived", refundId },
  ])
    expect(app.lines().filter(({ event }) => event === line.event)).toEqual([
      expect.objectContaining({ level: "info", ...line }),
    ]);
  const text = JSON.stringify(app.lines());
  const [password, card, key] = ["good password 1", "5555555555554444", app.own.keySecret];
  for (const secret of [ada.email, "Ada Lovelace", ada.token, ada.refreshToken, jupyter_token, password, card, key])
    expect(text, secret).not.toContain(secret);
  expect(text).not.toContain(payment_data.razorpay_signature);
});
