import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Capabilities } from "../../drivers/driver.ts";
import { registerHost } from "../hosts/register-host.ts";
import { rent, setupEnvironments } from "../testing/setup-environments.ts";
import { freeTimes } from "./free-times.ts";

/** A cluster whose nodes have so many GPUs, those with a name `new:` only once its autoscaler has added them. */
async function cluster() {
  const { db, driver } = await setupEnvironments({ slots: 0 });
  const read = async (nodes: Readonly<Record<string, number>>, placed: Capabilities["placed"] = []) => {
    const gpus = Object.entries(nodes).flatMap(([node, count]) =>
      Array.from({ length: count }, (_, at) => ({ id: `${node}-gpu-${at + 1}`, model: "L4", memoryMb: 1, node })),
    );
    const capabilities = async () => ({ ...(await driver.capabilities()), gpus, placed });
    await registerHost(db, "host", { ...driver, capabilities }, 0);
  };
  const holders = async () => {
    const { rows } = await sql<{ gpu_id: string; holder_id: string }>`
      select gpu_id, holder_id from gpu_leases where released_at is null order by gpu_id`.execute(db);
    return Object.fromEntries(rows.map(({ gpu_id, holder_id }) => [gpu_id, holder_id]));
  };
  const free = async () => (await freeTimes(db)).filter(({ freeNow }) => freeNow).length;
  return { db, read, holders, free };
}

test("G201 nodes that are there come first; then those are rented that the autoscaler may add", async () => {
  const { db, read, holders, free } = await cluster();
  // The expected node would fit better.
  await read({ a: 2, "new:1": 1 });
  expect(await free()).toBe(2);
  const [first, second, third] = [await rent(db), await rent(db), await rent(db)];
  expect(await holders()).toEqual({ "a-gpu-1": first, "a-gpu-2": second, "new:1-gpu-1": third });
  expect(await free()).toBe(0);
});

test("G201 with the node its leases and those of who comes after become leases of its GPUs, and none is given twice", async () => {
  const { db, read, holders, free } = await cluster();
  await read({ "new:1": 4, "new:2": 4 });
  const [first, second] = [await rent(db, { gpuCount: 2 }), await rent(db)];
  expect(Object.keys(await holders())).toEqual(["new:1-gpu-1", "new:1-gpu-2", "new:1-gpu-3"]);
  // Kept back while a pod may still get it.
  await read({ "new:2": 4 }, [{ id: first, expected: "new:1", node: "x" }]);
  expect(Object.keys(await holders())).toEqual(["new:1-gpu-1", "new:1-gpu-2", "new:1-gpu-3"]);
  for (let times = 0; times < 2; times++)
    await read({ x: 4, "new:2": 4 }, [{ id: first, expected: "new:1", node: "x" }]);
  expect(await holders()).toEqual({ "x-gpu-1": first, "x-gpu-2": first, "x-gpu-3": second });
  const third = await rent(db);
  expect((await holders())["x-gpu-4"]).toBe(third);
  expect(await free()).toBe(4);
});

test("G201 a node that is smaller than expected takes whoever got it, and the others wait on", async () => {
  const { db, read, holders } = await cluster();
  await read({ "new:1": 4 });
  const [first, second] = [await rent(db), await rent(db, { gpuCount: 3 })];
  await read({ x: 2 }, [{ id: first, expected: "new:1", node: "x" }]);
  expect(await holders()).toMatchObject({ "x-gpu-1": first, "new:1-gpu-2": second });
});
