import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../config/config.ts";
import { checkCluster } from "../../drivers/kubernetes/check-cluster.ts";
import { podsPath } from "../../drivers/kubernetes/cluster/objects.ts";
import { podNameOf } from "../../drivers/kubernetes/pods/pod-body.ts";
import { testSpec } from "../../drivers/testing/drive-run.ts";
import {
  type KubernetesMachine,
  openKubernetesMachine,
  whyNoKubernetes,
} from "../../drivers/testing/kubernetes-machine.ts";
import { addedClusters, openAddedClusters } from "../../environments/hosts/added-clusters.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { startRemoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { hostText, readHosts } from "./drain-host.ts";
import { hostCommand } from "./host-command.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const author = { actor: "cli:test", reason: "" };
const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `a cluster as a host, skipped because ${absent}` : "a cluster as a host", () => {
  let machine: KubernetesMachine;
  let nodes: readonly string[];
  let gpuNode: string | undefined;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    const checked = await checkCluster(machine.optionsOf());
    nodes = checked.nodes;
    gpuNode = checked.gpus[0]?.node;
  });
  afterAll(() => machine.close());

  /** An installation whose own machine is none, with the operator's commands. */
  async function setup() {
    const { db } = await setupEnvironments({ slots: 0 });
    const folder = mkdtempSync(join(tmpdir(), "berth-hosts-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const config = readConfig({
      ...{ DATA_DIR: folder, KUBERNETES_CLIENTS: "0.0.0.0/0" },
      KUBERNETES_IMAGES: "jupyter=docker.io/berth/jupyter:local",
    });
    const kubeconfigOf = (id: string) => join(folder, "hosts", id, "kubeconfig");
    const give = (id: string) => {
      mkdirSync(dirname(kubeconfigOf(id)), { recursive: true });
      copyFileSync(machine.optionsOf().kubeconfig ?? "", kubeconfigOf(id));
    };
    const operate = (verb: string, words: readonly string[], options: Readonly<Record<string, string>> = {}) =>
      hostCommand({ db, config, author }, verb, words, options).catch((error: Error) => error.message);
    const address = `kubernetes://${machine.cluster.namespace}`;
    return {
      ...{ db, folder, operate, give, address },
      take: (id: string) => rmSync(kubeconfigOf(id)),
      add: (id: string, node = nodes[0]) => {
        give(id);
        return operate("add", [id, address], { nodes: `kubernetes.io/hostname=${node}` });
      },
      open: async () => openAddedClusters(await addedClusters(db), { config, dataDir: folder, install: "one" }),
    };
  }

  test("G207 it is checked, added, listed and checked again; what it lacks is one sentence", async () => {
    const { db, operate, add, take, address } = await setup();
    expect(await operate("add", ["part", address])).toMatch(/hosts\/part\/kubeconfig cannot be read: ENOENT/);
    expect(await operate("add", ["part", address], { reach: "10.0.0.5" })).toMatch(/^--reach says nothing about kube/);
    expect(await operate("add", ["part", "ssh://a@10.0.0.5"], { nodes: "a=b" })).toMatch(/^--nodes says nothing about/);
    expect(await add("part", "of-nobody")).toMatch(
      /^No ready node .* has the labels kubernetes.io\/hostname=of-nobody$/,
    );
    expect(await addedClusters(db)).toEqual([]);
    const usable = new RegExp(`^part can be used: .* on 1 node with kubernetes.io/hostname=${nodes[0]}; pods and`);
    expect(await add("part")).toMatch(usable);
    expect(await add("part"), "again").toMatch(/part is added; a running server rents on it after its next start$/);
    expect((await readHosts(db)).map(hostText)).toContainEqual(
      `part kubernetes at ${address} on kubernetes.io/hostname=${nodes[0]}: 0 GPUs, 0 leased, 0 quarantined, 0 environments`,
    );
    expect(await operate("check", ["part"])).toMatch(usable);
    expect(await operate("firewall", ["part", "10.0.0.2"])).toBe(
      "part is a cluster: the server applies its network policies by itself",
    );
    take("part");
    expect(await operate("check", ["part"])).toMatch(/kubeconfig cannot be read/);
    expect(await operate("add", ["part", "kubernetes://other"])).toMatch(/kubeconfig cannot be read/);
    expect(await operate("remove", ["part"])).toBe("part is removed; a running server notices it at its next start");
    expect(await addedClusters(db)).toEqual([]);
  });

  test("G207 a node of another host is refused", async ({ skip }) => {
    const { db, add, open } = await setup();
    if (gpuNode === undefined) skip("the cluster has no GPUs");
    await add("one", gpuNode);
    for (const { host, driver } of await open()) await registerHost(db, host.id, driver, 0);
    expect(await add("two", gpuNode)).toBe(`${gpuNode} is a node of one already: give each host its own`);
  });

  test("G207 two hosts of one namespace do not see, and never touch, each other's runs and files", async () => {
    const { add, open } = await setup();
    const [own, other] = [nodes[0], nodes.at(-1)];
    await add("a", own);
    await add("b", other);
    const [a, b] = (await open()).map(({ driver }) => driver);
    if (!a || !b) throw new Error("two hosts were added");
    const spec = testSpec();
    await a.prepare("jupyter");
    await a.start(spec);
    await vi.waitFor(async () => expect((await a.observe(spec.id)).state).toBe("running"), {
      timeout: 60_000,
      interval: 200,
    });
    expect((await a.list()).map(({ id }) => id)).toEqual([spec.id]);
    expect([await b.list(), await b.observe(spec.id)]).toEqual([[], { state: "absent" }]);
    await b.remove(spec.id);
    await expect(b.deleteHome(spec.home)).rejects.toMatchObject({ code: "refused" });
    expect((await a.observe(spec.id)).state).toBe("running");
    const path = podsPath(machine.cluster, podNameOf(spec.id));
    const pod = await machine.cluster.withTimeout((signal) => machine.cluster.call<V1Pod>({ path, signal }));
    expect(pod.spec?.nodeName).toBe(own);
    await a.remove(spec.id);
    await a.deleteHome(spec.home);
  });

  test("G207 nothing is rented on it before it passes its check, at the start and after it was away", async () => {
    const { db, add, open, take, give } = await setup();
    await add("part");
    take("part");
    const deps = {
      ...{ db, install: "one", folder: "", slots: 2, needsLiveRestore: false, sshAgent: undefined, log: silentLogger },
      ...{ images: async () => undefined, replaced: async () => [] },
    };
    const { loops, checks } = await startRemoteHosts([], await open(), deps);
    onTestFinished(async () => void (await Promise.all(loops.map((loop) => loop.stop()))));
    const host = () => db.selectFrom("hosts").selectAll().where("id", "=", "part").executeTakeFirstOrThrow();
    const units = async () =>
      (await db.selectFrom("gpus").where("host_id", "=", "part").where("quarantined_at", "is", null).execute()).length;
    await vi.waitFor(async () => expect((await host()).away_since).not.toBeNull(), { timeout: 30_000 });
    expect([await units(), checks.get("part")?.isPassed()]).toEqual([0, false]);
    give("part");
    checks.get("part")?.repeat();
    await vi.waitFor(async () => expect((await host()).away_since).toBeNull(), { timeout: 30_000 });
    expect(await units()).toBeGreaterThan(0);
    expect((await host()).cluster).toBe(await machine.cluster.fingerprint());
  });
});
