import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { type HoldRequest, hold } from "../allocation/hold.ts";
import { placeOf } from "../homes/home-records.ts";
import { startReadingCapacity } from "../hosts/start-reading-capacity.ts";
import { addOrder, inMs, rent, setupEnvironments } from "../testing/setup-environments.ts";
import { freeTimes } from "./free-times.ts";
import { moveLeases } from "./move-leases.ts";

/** A cluster whose nodes have so many GPUs; a node without an entry is cordoned or lost. */
async function cluster(nodes: Record<string, number>) {
  const { db, driver, deps } = await setupEnvironments({ slots: 0 });
  const gpus = () =>
    Object.entries(nodes).flatMap(([node, count]) =>
      Array.from({ length: count }, (_, index) => ({ id: `${node}-gpu-${index + 1}`, model: "", memoryMb: 0, node })),
    );
  const capabilities = async () => ({ ...(await driver.capabilities()), gpus: gpus() });
  const drivers = new Map([["host", { ...driver, capabilities, homeNode: async () => undefined }]]);
  const loop = startReadingCapacity({ ...deps, drivers, slots: 0 });
  onTestFinished(() => loop.stop());
  const nodesOf = async (holderId: string) => {
    const { rows } = await sql<{ node: string }>`
      select node from gpus join gpu_leases l on l.gpu_id = gpus.id
      where holder_id = ${holderId} and released_at is null order by gpus.id`.execute(db);
    return rows.map(({ node }) => node);
  };
  const offered = async () =>
    (await sql`select from gpus where quarantined_at is null and kind = 'gpu'`.execute(db)).rows.length;
  return {
    db,
    nodesOf,
    /** Waits until the cluster has been read again. */
    async change(changed: Record<string, number>) {
      for (const node of Object.keys(nodes)) delete nodes[node];
      Object.assign(nodes, changed);
      loop.trigger();
      await expect.poll(offered).toBe(Object.values(changed).reduce((sum, count) => sum + count, 0));
    },
    read: (id: string) => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    async order(gpuCount: number, change: Partial<HoldRequest> = {}) {
      const request = { userId: "user", subdomain: `n${newId()}`, gpuCount, ...change };
      const orderId = await addOrder(db, { ...request, durationHours: 1 });
      const held = { orderId, ...request, holdUntil: inMs(900_000) };
      const answer = await db.transaction().execute((tx) => hold(tx, held));
      return answer.ok ? await nodesOf(orderId) : answer.message;
    },
  };
}

test("G180 an order gets its GPUs on one node, and is refused where no node has enough", async () => {
  const { db, change, order } = await cluster({});
  await change({ a: 2, b: 4 });
  const counts = async () => (await freeTimes(db)).map(({ gpuCount, freeNow }) => [gpuCount, freeNow]);
  expect(await counts()).toEqual([1, 2, 3, 4].map((count) => [count, true]));
  expect(await order(5)).toBe("No machine has 5 GPUs");
  // The node that fits best leaves the bigger one whole.
  expect(await order(1)).toEqual(["a"]);
  expect(await order(4)).toEqual(["b", "b", "b", "b"]);
  expect(await order(2)).toMatch(/^Not enough GPUs are free right now/);
  expect(await order(1)).toEqual(["a"]);
});

test("G180 a node that is cordoned or gone offers nothing, and is sold again when it is back", async () => {
  const { change, order } = await cluster({});
  await change({ a: 1, b: 4 });
  await change({ a: 1 });
  expect(await order(2)).toBe("No machine has 2 GPUs");
  expect(await order(1)).toEqual(["a"]);
  await change({ a: 1, b: 4 });
  expect(await order(4)).toEqual(["b", "b", "b", "b"]);
});

test("G181 before a start GPUs of a lost node are given back for those of another one that can have the files", async () => {
  const { db, change, nodesOf, read } = await cluster({});
  await change({ a: 2 });
  const id = await rent(db, { gpuCount: 2 });
  const move = async () => {
    const row = await read(id);
    await moveLeases(db, row, () => placeOf(db, row));
  };
  await move();
  expect(await nodesOf(id)).toEqual(["a", "a"]);
  await change({ b: 1 });
  await expect(move()).rejects.toMatchObject({ code: "no_gpu" });
  expect(await nodesOf(id)).toEqual(["a", "a"]);
  await change({ b: 2 });
  await sql`update homes set node = 'a'`.execute(db);
  await expect(move()).rejects.toMatchObject({ code: "lost", message: expect.stringContaining("are on a") });
  await sql`update homes set node = null`.execute(db);
  await move();
  expect(await nodesOf(id)).toEqual(["b", "b"]);
});
