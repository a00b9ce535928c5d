import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { openChanges } from "../../server/src/database/changes.ts";
import { type Db, openDatabase } from "../../server/src/database/database.ts";
import type { Driver, Endpoint } from "../../server/src/drivers/driver.ts";
import type { FakeFiles } from "../../server/src/drivers/fake/fake-server.ts";
import { readFiles } from "../../server/src/drivers/fake/read-files.ts";
import { annotation, podsPath } from "../../server/src/drivers/kubernetes/cluster/objects.ts";
import { kubernetesDriver } from "../../server/src/drivers/kubernetes/kubernetes-driver.ts";
import { readyOf } from "../../server/src/drivers/kubernetes/nodes/cluster-facts.ts";
import type { observePod } from "../../server/src/drivers/kubernetes/pods/observe-pod.ts";
import { openKubernetesMachine } from "../../server/src/drivers/testing/kubernetes-machine.ts";
import { startFresh } from "../../server/src/environments/api/start-fresh.ts";
import { keptFilesOf } from "../../server/src/environments/homes/kept-files.ts";
import { releaseFormerHomes } from "../../server/src/environments/homes/release-former-homes.ts";
import { registerHost } from "../../server/src/environments/hosts/register-host.ts";
import { startReadingCapacity } from "../../server/src/environments/hosts/start-reading-capacity.ts";
import { startReconciler } from "../../server/src/environments/reconciler/start-reconciler.ts";
import { freeDelivery, rent } from "../../server/src/environments/testing/setup-environments.ts";
import { startWarmPool } from "../../server/src/environments/warm-pool/start-warm-pool.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import { announceByBell } from "../../server/src/notifications/notifications.ts";
import { until } from "../../testing/customer.ts";
import { startCluster } from "./cluster.ts";

type Pod = Parameters<typeof observePod>[0];
type Node = Parameters<typeof readyOf>[0];

export interface Rented {
  readonly id: string;
  /** What its file says. */
  readonly text: string;
}

const hostId = "cluster";
const startMs = 180_000;
const retentionDays = 30;
/** Of `rent`. */
const userId = "user";
const fileName = "kept.txt";

/** A worker with the driver of the cluster of TEST_KUBECONFIG, in a namespace and on a database of its own. */
export async function openNodeLossFixture(node: string, storageClass: string | undefined) {
  const stack = new AsyncDisposableStack();
  const database = await openDatabase(await startCluster(stack), silentLogger);
  stack.defer(() => database.close());
  const { db } = database;
  const machine = await openKubernetesMachine();
  stack.defer(() => machine.close());
  const cluster = kubernetesDriver({ ...machine.optionsOf(), storageClass });
  await cluster.prepare("jupyter");
  const driver = offering(cluster, node);
  await registerHost(db, hostId, driver, 0);
  const drivers = new Map([[hostId, driver]]);
  const changes = await openChanges(database);
  const common = { db, drivers, log: silentLogger };
  const loops = [
    startReadingCapacity({ ...common, slots: 0, intervalMs: 5_000 }),
    startReconciler({ ...common, changes, delivery: freeDelivery, announce: announceByBell, isReady, retentionDays }),
    // It ends the runs that a fresh start leaves.
    startWarmPool({ ...common, changes, isReady, sizes: {} }),
  ];
  stack.defer(async () => void (await Promise.all(loops.map((loop) => loop.stop()))));
  const admin = <T>(method: "GET" | "PATCH", path: string, body?: object) =>
    machine.cluster.withTimeout((signal) =>
      machine.cluster.call<T>({
        ...{ method, path, signal },
        ...(body && { body, query: { fieldManager: "berth-proof", force: true } }),
      }),
    );
  const pods = async () => (await admin<{ items: Pod[] }>("GET", podsPath(machine.cluster))).items;
  const nodes = async () => (await admin<{ items: Node[] }>("GET", "/api/v1/nodes")).items;
  return {
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
    /** So many environments of an hour with a GPU each on the node, with a file. From then on other nodes are offered too. */
    async rent(count: number): Promise<readonly Rented[]> {
      const ids = await Promise.all(Array.from({ length: count }, (_, n) => rent(db, { subdomain: `lost-${n}` })));
      for (const id of ids) await untilStatus(db, id, "active", startMs);
      const rented = ids.map((id) => ({ id, text: randomUUID() }));
      for (const { id, text } of rented) await contents(await labOf(db, id), "PUT", text);
      driver.offerAll();
      return rented;
    },
    endOf: async ({ id }: Rented) => (await rowOf(db, id)).expires_at?.getTime() ?? 0,
    /** Unknown, and its owner has one notice of it. */
    async untilLost({ id }: Rented, withinMs: number): Promise<void> {
      await untilStatus(db, id, "unknown", withinMs);
      const notices = await sql`select from notifications where cause like ${`machine:${id}:%`}`.execute(db);
      if (notices.rows.length !== 1) throw new Error(`${notices.rows.length} notices for ${id}`);
    },
    untilRuns: ({ id }: Rented) => untilStatus(db, id, "active", startMs),
    /** Its owner does not wait for the machine (G202). */
    startFresh: ({ id }: Rented) => startFresh(db, { id, userId }),
    files: async ({ id }: Rented) => filesIn(await labOf(db, id)),
    /** Waits until the former run has ended and the former files can be downloaded (G203). Returns what they say. */
    async untilFormerFile({ id }: Rented): Promise<string | undefined> {
      const canBeDownloaded = async () => {
        // The server's own pass is every ten minutes.
        await releaseFormerHomes({ db, announce: announceByBell, retentionDays });
        return (await keptFilesOf(db, userId)).some(
          (files) => files.environment_id === id && files.files_until !== null,
        );
      };
      await until("the former files to have an end", canBeDownloaded, startMs);
      const { home } = await db.selectFrom("homes").where("left_by", "=", id).select("home").executeTakeFirstOrThrow();
      const files: FakeFiles = new Map();
      const signal = AbortSignal.timeout(startMs);
      await readFiles(driver.archive(home, signal), files, signal);
      return files.get(fileName);
    },
    /** Milliseconds of paid time that were left when the run of now was ready, or a minute after its start: a minute is free. */
    async leftAfterStart({ id }: Rented): Promise<number> {
      const { expires_at, generation } = await rowOf(db, id);
      const { rows } = await sql<{ at: Date }>`
        select least(max(at) filter (where stage = 'ready'), max(at) filter (where stage = 'started') + interval '1 minute') as at
        from launch_stages where environment_id = ${id} and generation = ${generation}`.execute(db);
      return (expires_at?.getTime() ?? 0) - (rows[0]?.at.getTime() ?? 0);
    },
    read: async ({ id }: Rented) => (await contents(await labOf(db, id), "GET")).content,
    /** The node of each pod of an environment, of a former run first. */
    async podsOf({ id }: Rented) {
      const all = await pods();
      return [id, (await rowOf(db, id)).run_id].flatMap((runId) =>
        all
          .filter(({ metadata }) => metadata?.annotations?.[annotation.environment] === runId)
          .map(({ spec }) => spec?.nodeName),
      );
    },
    /** Says to the cluster that the node is switched off, or no longer. */
    async say(what: "off" | "on"): Promise<void> {
      const taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
      const spec = { taints: what === "off" ? [taint] : [] };
      await admin<Node>("PATCH", `/api/v1/nodes/${node}`, {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: node },
        spec,
      });
    },
    untilReady: () =>
      until(
        "the node to be ready",
        async () => readyOf((await nodes()).find(({ metadata }) => metadata?.name === node) ?? {})?.status === "True",
        60_000,
      ),
    /** Nodes whose pods want more GPUs than the node has, and GPUs that are leased twice. */
    async overused(): Promise<readonly string[]> {
      const all = await pods();
      const used = (name: string | undefined) =>
        all.filter(({ spec }) => spec?.nodeName === name).reduce((sum, { spec }) => sum + gpusOf(spec), 0);
      const over = (await nodes()).filter(
        ({ metadata, status }) => used(metadata?.name) > Number(status?.capacity?.["nvidia.com/gpu"] ?? 0),
      );
      const { rows } = await sql<{ gpu_id: string }>`
        select gpu_id from gpu_leases where released_at is null group by gpu_id having count(*) > 1`.execute(db);
      return [...over.map(({ metadata }) => metadata?.name ?? ""), ...rows.map(({ gpu_id }) => gpu_id)];
    },
  };
}

const gpusOf = (spec: Pod["spec"]) => Number(spec?.containers[0]?.resources?.limits?.["nvidia.com/gpu"] ?? 0);

/** The driver, which offers the GPUs of one node only until it is told. */
function offering(driver: Driver, node: string): Driver & { readonly offerAll: () => void } {
  let all = false;
  return {
    ...driver,
    async capabilities(refresh) {
      const { gpus, ...rest } = await driver.capabilities(refresh);
      return { ...rest, gpus: gpus.filter((gpu) => all || gpu.node === node) };
    },
    offerAll() {
      all = true;
    },
  };
}

const rowOf = (db: Db, id: string) =>
  db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

async function untilStatus(db: Db, id: string, status: string, withinMs: number): Promise<void> {
  await until(`${id} to be ${status}`, async () => (await rowOf(db, id)).status === status, withinMs);
}

interface Lab {
  readonly base: string;
  readonly token: string;
}

async function labOf(db: Db, id: string): Promise<Lab> {
  const { endpoint, run_token } = await rowOf(db, id);
  return { base: baseOf(endpoint), token: run_token ?? "" };
}

const baseOf = (endpoint: Endpoint | null) =>
  endpoint && "port" in endpoint ? `http://${endpoint.host}:${endpoint.port}` : "";

async function contents({ base, token }: Lab, method: "GET" | "PUT", content?: string): Promise<{ content: string }> {
  const body = content === undefined ? null : JSON.stringify({ type: "file", format: "text", content });
  const headers = { authorization: `token ${token}`, "content-type": "application/json" };
  const reply = await fetch(`${base}/api/contents/${fileName}`, { method, headers, body });
  if (!reply.ok) throw new Error(`${method} ${fileName}: ${reply.status}`);
  return (await reply.json()) as { content: string };
}

/** Names of the files that a notebook shows at first. */
async function filesIn({ base, token }: Lab): Promise<readonly string[]> {
  const reply = await fetch(`${base}/api/contents`, { headers: { authorization: `token ${token}` } });
  if (!reply.ok) throw new Error(`the files cannot be listed: ${reply.status}`);
  return ((await reply.json()) as { content: { name: string }[] }).content.map(({ name }) => name);
}

async function isReady(endpoint: Endpoint, token: string): Promise<boolean> {
  const headers = { authorization: `token ${token}` };
  return (await fetch(`${baseOf(endpoint)}/lab`, { headers, signal: AbortSignal.timeout(3_000) })).ok;
}
