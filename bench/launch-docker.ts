import { signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { openFloor } from "./bare-container.ts";
import { launchMany } from "./launch-many.ts";
import { judge, launchOnce, ms, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { quantile } from "./quantiles.ts";

const atOnce = 20;
const goals = { coldToFloor: 1.5, warmMs: 700 };

/**
 * Launches of containers: cold with the image present, warm, and twenty at once, beside the engine alone. Two products,
 * one with a warm pool, so that cold, warm and floor alternate.
 */
export async function benchContainers(launches: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const bare = await openFloor(stack);
  const keepsNone = await open(stack, {});
  const keepsOne = await open(stack, { WARM_POOL: "jupyter=1" });
  const floor: number[] = [];
  const cold: Stamps[] = [];
  const warm: Stamps[] = [];
  for (let n = 0; n < launches; n++) {
    await keepsOne.hasWarmRun();
    floor.push(await bare());
    cold.push(await launchOnce(keepsNone.product, keepsNone.customer, `bench-${n}`));
    await keepsOne.hasWarmRun();
    warm.push(await launchOnce(keepsOne.product, keepsOne.customer, `bench-${n}`));
  }
  report("cold", cold);
  report(`warm, ${await keepsOne.resumed()} resumed within a second, the others started cold`, warm);
  console.log(`\nthe engine alone (floor): p50 ${ms(quantile(floor, 0.5))}, p95 ${ms(quantile(floor, 0.95))}`);
  judge("cold / floor, p95", quantile(readyOf(cold), 0.95) / quantile(floor, 0.95), goals.coldToFloor, "x");
  judge("warm p95", quantile(readyOf(warm), 0.95), goals.warmMs, "ms");
  await manyAtOnce(keepsNone.product, bare);
}

async function open(stack: AsyncDisposableStack, more: Readonly<Record<string, string>>) {
  const env = { SLOTS: String(atOnce), GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100", ...more };
  const product = await startProduct({ env });
  stack.defer(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  const { db, close } = await openProductDatabase(product);
  stack.defer(close);
  await prepared(product);
  return {
    product,
    customer: await signUp(product.url),
    hasWarmRun: () =>
      until("a warm run", () =>
        db.selectFrom("warm_runs").select("id").where("state", "=", "ready").executeTakeFirst(),
      ),
    async resumed() {
      const rows = await db.selectFrom("launch_times").select("environment_id").where("warm", "=", true).execute();
      return rows.length;
    },
  };
}

/** Pays all at once and waits for the last to be ready. */
async function manyAtOnce(product: Product, bare: () => Promise<number>): Promise<void> {
  const { stamps, tookMs } = await launchMany(product, atOnce);
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, bare));
  const bareMs = performance.now() - began;
  report(`${atOnce} at once, cold`, stamps);
  console.log(`\n${atOnce} at once, first paid to last ready: ${ms(tookMs)}; the engine alone: ${ms(bareMs)}`);
  console.log(`  ratio ${(tookMs / bareMs).toFixed(2)}x`);
}
