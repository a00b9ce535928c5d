import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Capabilities, Driver } from "../../drivers/driver.ts";
import { registerHost } from "../hosts/register-host.ts";
import { setupMoves } from "../testing/setup-moves.ts";

/** A second host that is a cluster with so many GPUs by node, and what was restored there. */
async function setup(nodes: Readonly<Record<string, number>>) {
  const base = await setupMoves();
  const { db, other, moveDeps } = base;
  const restored: (string | undefined)[] = [];
  const homes = new Map<string, string | undefined>();
  const gpus = Object.entries(nodes).flatMap(([node, count]) =>
    Array.from({ length: count }, (_, n) => ({ id: `${node}-gpu-${n + 1}`, model: "A100", memoryMb: 1, node })),
  );
  const cluster: Driver = {
    ...other,
    capabilities: async (): Promise<Capabilities> => ({ ...(await other.capabilities()), gpus }),
    async restore(home, ...rest) {
      restored.push(home.node);
      homes.set(home.home, home.node);
      await other.restore(home, ...rest);
    },
    homeNode: async (home) => homes.get(home),
  };
  return {
    ...base,
    restored,
    async open() {
      await registerHost(db, "other", cluster, 0);
      (moveDeps.drivers as Map<string, Driver>).set("other", cluster);
    },
    nodes: async () =>
      (
        await sql<{ node: string | null }>`select node from homes where host_id = 'other' order by 1`.execute(db)
      ).rows.map(({ node }) => node),
  };
}

test("G208 a copy goes to the node that has the GPUs which the environment will get", async () => {
  const { stopped, open, empty, movePass, restored, nodes } = await setup({ "node-a": 1, "node-b": 2 });
  await stopped({ gpuCount: 2 });
  await open();
  await empty();
  await movePass();
  expect([restored, await nodes()]).toEqual([["node-b"], ["node-b"]]);
});

test("G208 a node whose free GPUs are enough comes before one whose GPUs are rented, or are not all offered", async () => {
  const { db, stopped, open, empty, movePass, restored } = await setup({ "node-a": 2, "node-b": 2, "node-c": 2 });
  await stopped({ gpuCount: 2 });
  await open();
  await sql`
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id) values ('l', 'node-a-gpu-1', 'environment', 'bob')`.execute(
    db,
  );
  await sql`update gpus set quarantined_at = now() where id = 'node-b-gpu-2'`.execute(db);
  await empty();
  await movePass();
  expect(restored).toEqual(["node-c"]);
});

test("G208 many homes are spread over the nodes by their GPUs, so that all can start", async () => {
  const { stopped, open, empty, movePass, nodes, restored } = await setup({ "node-a": 4, "node-b": 2 });
  for (let n = 0; n < 6; n++) await stopped();
  await open();
  await empty();
  await movePass();
  expect(restored).toHaveLength(6);
  expect(await nodes()).toEqual(["node-a", "node-a", "node-a", "node-a", "node-b", "node-b"]);
});

test("G208 where only the autoscaler could bring such a node, any node may have the files", async () => {
  const { stopped, open, empty, movePass, restored } = await setup({ "node-a": 1, "new:1": 8 });
  await stopped({ gpuCount: 2 });
  await open();
  await empty();
  await movePass();
  expect(restored).toEqual([undefined]);
});
