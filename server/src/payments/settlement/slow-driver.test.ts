import { expect, test } from "vitest";
import { DriverError } from "../../drivers/driver.ts";
import { setup } from "../testing/setup.ts";

/** One machine with capacity for one rental of two GPUs, paid by Ada, with a delivery timeout of a second. */
async function paidOrder(fake: Record<string, number> = {}) {
  const world = await setup({ slots: 2, giveUpAfterSeconds: 1, fake });
  const { id } = (await world.order("ada")).body;
  const proof = (await world.pay(id)).body;
  const holders = async () =>
    [...new Set((await world.openLeases()).map(({ holder_id, gpu_id }) => `${gpu_id} ${holder_id}`))].length;
  return { ...world, id, proof, holders };
}

test("C39 given up while it still comes up: no GPU is free before the run is gone, then the next buyer has them", async () => {
  const { create, proof, id, driver, runReconciler, runRefundSender, order, rowOf, refundsOf } = await paidOrder({
    startMs: 600_000,
  });
  const letGo = driver.hang("remove");
  runReconciler();
  const answer = create("ada", proof);
  await expect.poll(() => driver.calls.get("remove") ?? 0).toBe(1);
  expect((await order("ben")).body.code).toBe("out_of_stock");
  expect([(await rowOf(id)).status, await refundsOf()]).toEqual(["paid", []]);
  letGo();
  expect((await answer).body).toMatchObject({ code: "not_delivered", money: "refund_started" });
  expect(await driver.list()).toEqual([]);
  expect((await order("ben")).status).toBe(200);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
});

test("C39 a start that completes after the timeout is an orphan: removed, refunded once, and its GPUs are the next buyer's alone", async () => {
  const { create, proof, id, driver, runReconciler, runRefundSender, order, pay, ...rest } = await paidOrder();
  const { start } = driver;
  const late: (() => Promise<void>)[] = [];
  driver.start = async (spec) => {
    late.push(() => start(spec));
    throw new DriverError("unavailable", "no answer in time");
  };
  runReconciler();
  expect((await create("ada", proof)).body.code).toBe("not_delivered");

  driver.start = start;
  const next = (await pay((await order("ben")).body.id)).body;
  expect((await create("ben", next)).body.status).toBe("active");
  await late[0]?.();
  expect(await driver.list()).toHaveLength(2);
  // As after a restart, which reconciles the inventory at once.
  runReconciler();
  runRefundSender();
  const running = async () => (await driver.list()).map(({ id: run }) => run);
  const environments = await rest.environments();
  await expect.poll(running).toEqual(environments.filter(({ user_id }) => user_id === "ben").map((row) => row.id));
  await expect.poll(async () => (await rest.rowOf(id)).status).toBe("refunded");
  expect(environments.map(({ user_id, status }) => `${user_id} ${status}`).sort()).toEqual([
    "ada terminated",
    "ben active",
  ]);
  expect(await rest.refundsOf()).toMatchObject([{ reason: "not_delivered", amount_minor: 40 }]);
  expect(await rest.holders()).toBe(2);
  expect((await rest.openLeases()).map(({ holder_id }) => holder_id)).toEqual(
    Array(2).fill(environments.find(({ user_id }) => user_id === "ben")?.id),
  );
});
