import { expect, onTestFinished, test } from "vitest";
import { buyOrders, signUpMany } from "./buy-orders.ts";
import { removeFolder, startProduct } from "./product.ts";

test("60 paid orders in seconds, with the limits of an installation by default: the product refuses itself nothing", async () => {
  const env = { RUNTIME: "fake", FAKE_DRIVER: "gpus=24,startMs=10" };
  const product = await startProduct({ env, hasLimits: true });
  onTestFinished(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  const accounts = 12;
  const customers = await signUpMany(product.url, accounts);
  const shopped = await buyOrders(product.url, customers, { accounts, ordersEach: 5, withinMs: 0 });
  expect(shopped.refusals).toEqual([]);
  expect(shopped.paid).toBe(60);
  expect(product.output()).not.toMatch(/order\.check_failed|provider\.event_failed|Too many requests/);
}, 120_000);
