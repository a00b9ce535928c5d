import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { markUnreachable } from "../hosts/register-host.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { enterQueue } from "../queue/join-queue.ts";
import { setupHolds } from "../testing/setup-holds.ts";

test("GPUs of one order are on one host, and two orders for all of them are not both refused", async () => {
  const { ask, open } = await setupHolds({ a: 3, b: 4 });
  expect(await ask({ gpuCount: 4 })).toMatchObject({ ok: true, hostId: "b" });
  expect(new Set((await open()).map(({ gpu_id }) => gpu_id[0]))).toEqual(new Set(["b"]));
  expect(await ask({ gpuCount: 4 })).toMatchObject({ ok: false, code: "out_of_stock" });
  expect(await ask({ gpuCount: 8 })).toMatchObject({ ok: false, message: "No machine has 8 GPUs" });
  const both = await Promise.all([ask({ gpuCount: 3 }), ask({ gpuCount: 3 })]);
  expect(both.filter(({ ok }) => ok)).toHaveLength(1);
});

test("a shortage of one GPU is in the singular", async () => {
  const { ask } = await setupHolds({});
  expect(await ask({ gpuCount: 1 })).toMatchObject({ ok: false, message: "No machine has 1 GPU" });
});

test("quarantined GPUs and drained hosts are not leased", async () => {
  const { db, ask } = await setupHolds({ a: 2, b: 2 });
  await sql`update gpus set quarantined_at = now() where id = 'a1'`.execute(db);
  await sql`update hosts set drained_at = now() where id = 'b'`.execute(db);
  expect(await ask({ gpuCount: 2 })).toMatchObject({ ok: false });
  const leased = [await ask(), await ask()];
  expect(leased).toMatchObject([
    { ok: true, hostId: "a" },
    { ok: false, code: "out_of_stock" },
  ]);
  expect(await db.selectFrom("gpu_leases").select("gpu_id").execute()).toEqual([{ gpu_id: "a2" }]);
});

test("capacity is that of the largest free host, with the time when more is free", async () => {
  const { db, ask } = await setupHolds({ a: 2, b: 4 });
  await ask({ gpuCount: 4 });
  const { kind, total, free, counts } = await readCapacity(db, defaultCatalogue);
  expect({ kind, total, free }).toEqual({ kind: "gpu", total: 4, free: 2 });
  expect(counts.map((count) => [count.gpu_count, count.free, count.next_free_at !== null])).toEqual([
    [1, true, false],
    [2, true, false],
    [4, false, true],
    [6, false, false],
    [8, false, false],
  ]);
});

test("an order goes to a host that can run its type, first to one that has the image", async () => {
  const { ask, order, prepared } = await setupHolds({ a: 2, b: 1, c: 1 });
  await prepared({ a: "unavailable", b: "preparing", c: "ready" });
  expect([await order(), await order()]).toMatchObject([{ hostId: "c" }, { hostId: "b" }]);
  expect(await order()).toMatchObject({ code: "out_of_stock", message: expect.stringMatching(/free at \d{4}-/) });
  expect(await ask(), "for something that runs there").toMatchObject({ hostId: "a" });
});

test("an order that prefers a later host still locks the hosts in the order of their ids", async () => {
  const { db, order, prepared, waiting } = await setupHolds({ a: 1, b: 1 });
  await prepared({ a: "preparing", b: "ready" });
  const answer = await db.transaction().execute(async (tx) => {
    await sql`select 1 from hosts where id = 'a' for no key update`.execute(tx);
    const asked = order();
    await expect.poll(waiting).toBe(1);
    await sql`select 1 from hosts where id = 'b' for no key update nowait`.execute(tx);
    return { asked };
  });
  expect(await answer.asked).toMatchObject({ hostId: "b" });
});

test("a reservation on a host that cannot run the order's type is released for GPUs on another one", async () => {
  const { db, order, prepared, open } = await setupHolds({ a: 1, b: 1 });
  await enterQueue(db, "ann", 1, async () => {});
  expect(await open()).toMatchObject([{ gpu_id: "a1", holder_kind: "queue" }]);
  await prepared({ a: "unavailable" });
  expect(await order()).toMatchObject({ hostId: "b" });
  expect(await open()).toMatchObject([{ gpu_id: "b1", holder_kind: "order" }]);
});

test("a hold on a host that became unreachable moves to GPUs of another one, or is refused", async () => {
  const { db, ask, open } = await setupHolds({ a: 1, b: 1 });
  const request = { orderId: newId(), subdomain: "mine" };
  expect(await ask(request)).toMatchObject({ hostId: "a" });
  await markUnreachable(db, "a");
  expect(await ask(request)).toMatchObject({ ok: true, hostId: "b" });
  expect(await open()).toMatchObject([{ gpu_id: "b1" }]);
  await markUnreachable(db, "b");
  expect(await ask(request)).toMatchObject({ ok: false, code: "out_of_stock" });
});
