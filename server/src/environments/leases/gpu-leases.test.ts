import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { addHosts } from "../testing/setup-environments.ts";
import { leaseGpus } from "./gpu-leases.ts";

test("files on one node of a cluster: its GPUs or CPU slots, which are on no node, and never another node's GPUs", async () => {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await addHosts(db, { a: 2, b: 2 });
  const lease = (holderId: string, hostId: string) => {
    const request = { holderKind: "environment", holderId, gpuCount: 1, holdUntil: null } as const;
    return db.transaction().execute((tx) => leaseGpus(tx, { ...request, place: { hostId, node: "n1" } }));
  };
  await sql`update gpus set node = case id when 'b1' then 'n1' else 'n2' end where host_id = 'b'`.execute(db);
  expect([await lease("one", "a"), await lease("two", "a"), await lease("three", "a")]).toEqual(["a", "a", undefined]);
  expect([await lease("four", "b"), await lease("five", "b")]).toEqual(["b", undefined]);
});
