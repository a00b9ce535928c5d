import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import type { Capabilities, Driver } from "../../drivers/driver.ts";
import { namespaceIn, parseClusterOptions } from "../../drivers/kubernetes/added-cluster.ts";
import { hold } from "../allocation/hold.ts";
import { addOrder, inMs, setupEnvironments } from "../testing/setup-environments.ts";
import { addedClusters, openAddedClusters } from "./added-clusters.ts";
import { registerHost } from "./register-host.ts";

const addPart = (db: Db, id: string, options = "{}") =>
  sql`insert into hosts (id, kind, address, options) values (${id}, 'kubernetes', 'kubernetes://berth', ${options})`.execute(
    db,
  );

test("a namespace and options are read in full, or refused in one sentence", () => {
  expect(namespaceIn("kubernetes://berth-gpus")).toBe("berth-gpus");
  for (const no of ["kubernetes://", "kubernetes://Berth", "kubernetes://a/b", "ssh://berth@10.0.0.5"])
    expect(() => namespaceIn(no)).toThrow("is no part of a cluster: kubernetes://NAMESPACE");
  const options = { nodes: "pool=a100,nvidia.com/mig=", "runtime-class": "gvisor", "storage-class": "fast" };
  expect(parseClusterOptions(options)).toEqual({
    ...{ nodeSelector: { pool: "a100", "nvidia.com/mig": "" }, runtimeClass: "gvisor", storageClass: "fast" },
  });
  expect(parseClusterOptions({})).toEqual({ nodeSelector: {} });
  expect(() => parseClusterOptions({ nodes: "pool" })).toThrow("pool is not a label of nodes, such as pool=a100");
  expect(() => parseClusterOptions({ "runtime-class": "g visor" })).toThrow("g visor is not the name of a class");
});

test("an added cluster without a kubeconfig has a driver that says so, and other hosts are not affected", async () => {
  const { db } = await setupEnvironments();
  const dataDir = mkdtempSync(join(tmpdir(), "berth-clusters-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  await addPart(db, "gpus", JSON.stringify({ nodeSelector: { pool: "a100" } }));
  const hosts = await addedClusters(db);
  expect(hosts).toEqual([{ id: "gpus", namespace: "berth", options: { nodeSelector: { pool: "a100" } } }]);
  const config = readConfig({ DATA_DIR: dataDir, KUBERNETES_CLIENTS: "10.0.0.0/8" });
  const [machine] = await openAddedClusters(hosts, { config, dataDir, install: "one" });
  const failure = { code: "unavailable", message: expect.stringContaining("hosts/gpus/kubeconfig cannot be read") };
  await expect(machine?.driver.observe("a")).rejects.toMatchObject(failure);
  await expect(machine?.driver.capabilities()).rejects.toMatchObject(failure);
  await expect(machine?.check()).rejects.toMatchObject({ code: "no_image" });
  const noClients = await openAddedClusters(hosts, { config: readConfig({}), dataDir, install: "one" });
  await expect(noClients[0]?.check()).rejects.toThrow("KUBERNETES_CLIENTS names the networks");
});

/** Two parts of one cluster, each with so many GPUs by node. */
async function parts() {
  const { db, driver } = await setupEnvironments({ slots: 0 });
  await sql`update hosts set drained_at = now()`.execute(db);
  const offer = async (id: string, nodes: Readonly<Record<string, number>>, cluster = "one") => {
    const gpus = Object.entries(nodes).flatMap(([node, count]) =>
      Array.from({ length: count }, (_, n) => ({ id: `${id}/${node}-gpu-${n}`, model: "A100", memoryMb: 1, node })),
    );
    const capabilities = async (): Promise<Capabilities> => ({ ...(await driver.capabilities()), gpus, cluster });
    const part: Driver = { ...driver, kind: "kubernetes", capabilities };
    await registerHost(db, id, part, 0);
    const rows = await sql<{ id: string }>`
      select id from gpus where host_id = ${id} and quarantined_at is null order by id`.execute(db);
    return rows.rows.map((row) => row.id);
  };
  for (const id of ["a", "b"]) await addPart(db, id);
  return { db, offer };
}

test("G207 a node that two hosts of one cluster match is offered by one of them, until that one lets it go", async () => {
  const { db, offer } = await parts();
  expect(await offer("a", { n1: 1, n2: 1 })).toEqual(["a/n1-gpu-0", "a/n2-gpu-0"]);
  expect(await offer("b", { n2: 1, n3: 1 })).toEqual(["b/n3-gpu-0"]);
  // Nodes of another cluster only have the same names.
  expect(await offer("b", { n2: 1 }, "two")).toEqual(["b/n2-gpu-0"]);
  expect(await offer("b", { n3: 1 })).toEqual(["b/n3-gpu-0"]);
  const order = { userId: "user", subdomain: "mine", gpuCount: 1 };
  const orderId = await addOrder(db, { ...order, durationHours: 1 });
  await sql`update gpus set quarantined_at = now() where id <> 'a/n2-gpu-0'`.execute(db);
  const held = await db.transaction().execute((tx) => hold(tx, { ...order, orderId, holdUntil: inMs(900_000) }));
  expect(held.ok).toBe(true);
  expect(await offer("a", { n1: 1 }), "it has lost the label").toEqual(["a/n1-gpu-0"]);
  expect(await offer("b", { n2: 1, n3: 1 }), "n2 is leased").toEqual(["b/n3-gpu-0"]);
  await sql`update gpu_leases set released_at = now()`.execute(db);
  expect(await offer("b", { n2: 1, n3: 1 })).toEqual(["b/n2-gpu-0", "b/n3-gpu-0"]);
});

test("G207 two hosts of one cluster that register at once do not offer the same node", async () => {
  const { db, offer } = await parts();
  await sql`update hosts set cluster = 'one' where id in ('a', 'b')`.execute(db);
  for (let round = 0; round < 5; round++) {
    await Promise.all([offer("a", { n1: 1 }), offer("b", { n1: 1 })]);
    const { rows } = await sql`select from gpus where quarantined_at is null and node = 'n1'`.execute(db);
    expect(rows).toHaveLength(1);
    await sql`update gpus set quarantined_at = now(), quarantine_reason = ''`.execute(db);
  }
});
