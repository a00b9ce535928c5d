import { signUp, until } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import type { Product } from "../testing/product.ts";
import { openProductDatabase } from "../testing/seed.ts";
import { type Figure, inPairs, timed } from "./figure.ts";
import { launchMany } from "./launch-many.ts";
import { launchOnce, prepared, readyOf, report, type Stamps } from "./launch-stages.ts";
import { openFloor } from "./peers/bare-container.ts";
import { openProduct } from "./processes.ts";

const launches = 20;
const atOnce = 20;
const crowds = 3;

/**
 * RUNTIME=docker. Launches of containers: cold with the image present, warm, and twenty at once, beside the engine alone. Two products,
 * one with a warm pool, so that cold, warm and floor alternate.
 */
export async function measure(): Promise<readonly Figure[]> {
  if (environment.runtime.RUNTIME !== "docker") throw new Error("set RUNTIME=docker");
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
  const floors = { peer: floor, beside: "the engine alone" };
  return [
    { name: "launch of a container, cold", unit: "ms", samples: readyOf(cold), ...floors },
    { name: "launch of a container, warm", unit: "ms", samples: readyOf(warm), ...floors },
    await manyAtOnce(keepsNone.product, bare),
  ];
}

async function open(stack: AsyncDisposableStack, more: Readonly<Record<string, string>>) {
  const env = { SLOTS: String(atOnce), GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100", ...more };
  const product = await openProduct(stack, env);
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
async function manyAtOnce(product: Product, bare: () => Promise<number>): Promise<Figure> {
  const ours = async () => (await launchMany(product, atOnce)).tookMs;
  const theirs = () => timed(() => Promise.all(Array.from({ length: atOnce }, bare)));
  return {
    name: "twenty containers at once",
    unit: "ms",
    ...(await inPairs(crowds, ours, theirs)),
    beside: "the engine alone",
  };
}
