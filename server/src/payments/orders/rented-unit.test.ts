import { expect, test } from "vitest";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup } from "../testing/setup.ts";

test("the dialog and the receipt say GPUs, and slots where no host has a GPU (G307)", async () => {
  const { db, payments, provider, order, pay } = await setup();
  const { body } = await order("ada", { gpu_count: 1, duration: 6 });
  expect(body.description).toBe("Jupyter environment, 1 slot, 6 hours");
  const { razorpay_payment_id: paymentId } = (await pay(body.id)).body;
  await settlePayment(payments, await provider.payment(paymentId));
  expect((await db.selectFrom("receipts").select("document").executeTakeFirstOrThrow()).document).toMatchObject({
    ...{ gpu_count: 1, unit: "cpu" },
  });
  await db.updateTable("gpus").set({ kind: "gpu" }).execute();
  expect((await order("ben", { gpu_count: 1, duration: 6 })).body.description).toBe(
    "Jupyter environment, 1 GPU, 6 hours",
  );
});

test("refusals say slots where no host has a GPU, and GPUs where one has (G307)", async () => {
  const { order, db } = await setup({
    ...{ slots: 4, caps: { gpusPerUser: 4, newcomerShare: 0.5 }, keys: { minimumMinor: { USD: 50, INR: 100 } } },
  });
  expect((await order("ben", { gpu_count: 1 }, "INR")).status).toBe(200);
  const refusals = async () => {
    const asked = [
      [1, "USD"],
      [2, "INR"],
      [4, "INR"],
      [8, "INR"],
    ] as const;
    const said: string[] = [];
    for (const [gpu_count, currency] of asked) said.push((await order("ada", { gpu_count }, currency)).body.message);
    return said.map((text) => text.replace(/free at .* UTC/, ""));
  };
  const slots = await refusals();
  expect(slots).toEqual([
    expect.stringMatching(/^Payments start at \$0\.50\. .*take 4 slots/),
    expect.stringMatching(/^3 slots are free, and 1 of them/),
    expect.stringMatching(/^Not enough slots are free right now\. The next 4 slots are expected/),
    expect.stringMatching(/^You have 0 of 4 slots in use/),
  ]);
  await db.updateTable("gpus").set({ kind: "gpu" }).execute();
  expect(await refusals()).toEqual(slots.map((text) => text.replaceAll("slot", "GPU")));
});
