import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig, type V1NetworkPolicy, type V1PersistentVolumeClaim, type V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { filesIn, testSpec, waitForState } from "../testing/drive-run.ts";
import {
  type KubernetesMachine,
  kubeconfigAs,
  openKubernetesMachine,
  whyNoKubernetes,
} from "../testing/kubernetes-machine.ts";
import { execOutput } from "./cluster/exec-in-pod.ts";
import { claimsPath, labelsOf, podsPath, policiesPath } from "./cluster/objects.ts";
import { kubernetesDriver } from "./kubernetes-driver.ts";
import { claimOf, isolatedContainer, isolatedPod, podBody, podNameOf } from "./pods/pod-body.ts";

vi.setConfig({ testTimeout: 120_000 });

const folder = mkdtempSync(join(tmpdir(), "berth-kube-"));
afterAll(() => rmSync(folder, { recursive: true }));

function kubeconfigFile(name: string, content: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

const nowhere = (kubeconfig: string) => {
  const placement = {
    nodeSelector: {},
    runtimeClass: undefined,
    pullSecret: undefined,
    storageClass: undefined,
    moveAfter: undefined,
    autoscaler: undefined,
  };
  return kubernetesDriver({
    ...{ ...placement, kubeconfig, namespace: "berth", install: "abc", clients: [], closed: [] },
    images: async () => "image",
  });
};

test("a cluster that does not answer, and a kubeconfig that cannot be used, are named in one sentence", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => closed.once("listening", resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  const server = `https://127.0.0.1:${port}`;
  const driver = nowhere(
    kubeconfigFile("closed.json", {
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const silent = {
    code: "unavailable",
    message: expect.stringContaining(`No Kubernetes API server answers at ${server}`),
  };
  await expect(driver.observe("e1")).rejects.toMatchObject(silent);
  await expect(driver.start(testSpec())).rejects.toMatchObject(silent);
  await expect(driver.homeMb("h1")).rejects.toMatchObject(silent);
  for (const read of ["machineId", "capabilities", "list"] as const) {
    await expect(nowhere(join(folder, "absent"))[read]()).rejects.toThrow(/^The kubeconfig .*absent cannot be read: /);
    await expect(nowhere(kubeconfigFile("empty.json", {}))[read]()).rejects.toThrow("names no current context");
  }
});

const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `faults of a cluster, skipped because ${absent}` : "faults of a cluster", () => {
  let machine: KubernetesMachine;
  let driver: Driver;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    driver = await machine.open();
    await driver.prepare("jupyter");
  }, 300_000);
  afterAll(() => machine.close());

  const api = <T>(method: "GET" | "POST" | "DELETE", path: string, body?: object) =>
    machine.cluster.withTimeout((signal) => machine.cluster.call<T>({ method, path, ...(body && { body }), signal }));

  async function begin(wanted: Spec = testSpec()): Promise<Spec> {
    onTestFinished(() => driver.stop(wanted.id, 0));
    await driver.start(wanted);
    return wanted;
  }

  test("a missing right is named by verb and resource", async () => {
    const config = new KubeConfig();
    config.loadFromFile(machine.optionsOf().kubeconfig ?? "");
    const kubeconfig = kubeconfigAs(config, "somebody", folder);
    const limited = kubernetesDriver({ ...machine.optionsOf(), kubeconfig });
    const denied = (text: string) => ({ code: "unavailable", message: expect.stringContaining(text) });
    await expect(limited.observe("e1")).rejects.toMatchObject(denied("may not get pods"));
    await expect(limited.capabilities()).rejects.toMatchObject(denied("may not list nodes"));
  });

  test("a pod for work on files whose server was killed is removed once it has ended, a foreign one is not", async () => {
    const options = machine.optionsOf();
    const image = (await options.images("jupyter")) ?? "";
    const container = { ...isolatedContainer, name: "lab", image, command: ["true"] };
    const spec = { ...isolatedPod(options), containers: [container] };
    const plant = async (name: string, install: string) => {
      await api("POST", podsPath(machine.cluster), { metadata: { name, labels: labelsOf(install, "files") }, spec });
      const ended = async () =>
        (await api<V1Pod>("GET", podsPath(machine.cluster, name))).status?.phase === "Succeeded";
      await expect.poll(ended, { timeout: 60_000 }).toBe(true);
    };
    await plant("files-ours", options.install);
    await plant("files-theirs", machine.optionsOf("other").install);
    await driver.list();
    const { items } = await api<{ items: V1Pod[] }>("GET", podsPath(machine.cluster));
    const files = items.filter(({ metadata }) => !metadata?.deletionTimestamp).map(({ metadata }) => metadata?.name);
    expect(files).toContain("files-theirs");
    expect(files).not.toContain("files-ours");
    await api("DELETE", podsPath(machine.cluster, "files-theirs"), { gracePeriodSeconds: 0 });
  });

  test("a used-up quota is named, and the next start works when there is room", async () => {
    const path = `/api/v1/namespaces/${machine.cluster.namespace}/resourcequotas`;
    const { length: used } = (await api<{ items: unknown[] }>("GET", podsPath(machine.cluster))).items;
    await api("POST", path, { metadata: { name: "full" }, spec: { hard: { pods: String(used) } } });
    // Once the cluster has counted what is used.
    await expect.poll(async () => (await driver.capabilities(true)).room, { timeout: 30_000 }).toBe(0);
    const wanted = testSpec();
    onTestFinished(() => driver.stop(wanted.id, 0));
    const full = {
      code: "unavailable",
      waitsFor: "room",
      message: expect.stringContaining("The namespace has no room left"),
    };
    await expect(driver.start(wanted)).rejects.toMatchObject(full);
    expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    await api("DELETE", `${path}/full`, {});
    await driver.start(wanted);
    await waitForState(driver, wanted.id, "running");
  });

  test("G172 a run has as many GPUs as leased slots", async ({ skip }) => {
    const [slot] = (await driver.capabilities()).gpus;
    if (!slot) return skip("no node of this cluster has a GPU");
    const wanted = await begin(testSpec({ gpus: [slot.id] }));
    // Its volume is made before a scheduler has seen the pod, which would name the node a moment later.
    const { metadata } = await api<V1PersistentVolumeClaim>("GET", claimsPath(machine.cluster, claimOf(wanted.home)));
    const named = "volume.kubernetes.io/selected-node";
    expect(metadata?.annotations?.[named]).toBe(slot.node);
    expect(metadata?.managedFields?.map(({ fieldsV1 }) => fieldsV1)).toContainEqual(
      expect.objectContaining({
        "f:spec": expect.objectContaining({ "f:accessModes": {} }),
        "f:metadata": expect.objectContaining({ "f:annotations": expect.objectContaining({ [`f:${named}`]: {} }) }),
      }),
    );
    await waitForState(driver, wanted.id, "running");
    const pod = await api<V1Pod>("GET", podsPath(machine.cluster, podNameOf(wanted.id)));
    expect(pod.spec?.containers[0]?.resources?.limits?.["nvidia.com/gpu"]).toBe("1");
    expect((await driver.stats(wanted.id)).gpus).toEqual([]);
    expect(await driver.gpuFault(wanted.id)).toBeUndefined();
    expect(pod.spec?.nodeName).toBe(slot.node);
  });

  test("G313 an owner whose nvidia-smi fails, is ended or lies makes no fault of the GPUs", async ({ skip }) => {
    const { gpus } = await driver.capabilities();
    if (gpus.length === 0) return skip("no node of this cluster has a GPU");
    const slot = gpus.at(-1);
    const spec = testSpec({ gpus: [slot?.id ?? ""] });
    onTestFinished(() => driver.stop(spec.id, 0));
    const options = machine.optionsOf();
    const image = (await options.images("jupyter")) ?? "";
    const body = withProgram(
      podBody(spec, { ...options, image, node: slot?.node }),
      "/usr/local/nvidia/bin/nvidia-smi",
    );
    await api("POST", podsPath(machine.cluster), body);
    await waitForState(driver, spec.id, "running");
    for (const says of ["kill -TERM $$", "kill -INT $$", "exit 1", "exit 255", "echo no GPU", "exec sleep 60"]) {
      const command = ["/bin/sh", "-c", 'printf "#!/bin/sh\\n%s\\n" "$0" > /usr/local/nvidia/bin/nvidia-smi', says];
      const program = { pod: podNameOf(spec.id), container: "lab", command };
      await machine.cluster.withTimeout((signal) => execOutput(machine.cluster, { ...program, signal }));
      expect(await driver.gpuFault(spec.id).catch(({ code }) => code), says).toBeUndefined();
    }
  });

  test("G313 what an owner's programs say is neither a home's size nor its archive, and is read up to a megabyte", async () => {
    const { home, id } = await begin();
    await waitForState(driver, id, "running");
    const run = (script: string) =>
      machine.cluster.withTimeout((signal) => {
        const program = { pod: podNameOf(id), container: "lab", command: ["/bin/sh", "-c", script], signal };
        return execOutput(machine.cluster, program);
      });
    await run("echo mine > /home/berth/notes.txt");
    // As ptrace would: whatever the owner's user starts or is started as is ended at once.
    await run("(while :; do pkill -KILL -x 'tar|find|du'; done) > /dev/null 2>&1 &");
    const signal = AbortSignal.timeout(60_000);
    expect((await driver.countHome(home, signal))?.bytes).toBeGreaterThan(0);
    expect(await driver.homeMb(home)).toBeGreaterThan(0);
    expect((await filesIn(driver.archive(home, signal))).get("notes.txt")).toBe("mine\n");
    await expect(run("yes")).rejects.toMatchObject({ message: expect.stringContaining("more than a megabyte") });
  });

  test("G354 the cluster takes the policies with networks of its own that are closed", async () => {
    const closed = ["203.0.113.0/24", "2001:db8:1::/112"];
    const options = { ...machine.optionsOf("closed"), closed };
    const shut = kubernetesDriver(options);
    const wanted = testSpec();
    onTestFinished(() => shut.stop(wanted.id, 0));
    await shut.start(wanted);
    const path = policiesPath(machine.cluster, `berth-run-${options.install}`);
    const { spec } = await api<V1NetworkPolicy>("GET", path);
    const except = spec?.egress?.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? []));
    expect(except).toEqual(expect.arrayContaining(closed));
  });

  test("another owner's pod of the same name is never observed, ended or replaced", async () => {
    const wanted = testSpec();
    const options = machine.optionsOf();
    const image = (await options.images("jupyter")) ?? "";
    const container = { ...isolatedContainer, name: "theirs", image, command: ["sleep", "infinity"] };
    const name = podNameOf(wanted.id);
    const spec = { ...isolatedPod(options), containers: [container] };
    await api("POST", podsPath(machine.cluster), { metadata: { name }, spec });
    expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    await driver.remove(wanted.id);
    await expect(driver.start(wanted)).rejects.toMatchObject({ code: "refused" });
    expect((await driver.list()).map(({ id }) => id)).not.toContain(wanted.id);
    const lines: string[] = [];
    const signal = AbortSignal.timeout(5_000);
    for await (const line of driver.logs(wanted.id, { tail: 10, follow: true, signal })) lines.push(line);
    expect(lines).toEqual([]);
    await api("DELETE", podsPath(machine.cluster, name), { gracePeriodSeconds: 0 });
  });

  test("two servers start the same run at once: both succeed, and there is one run", async () => {
    const wanted = testSpec();
    onTestFinished(() => driver.stop(wanted.id, 0));
    const second = await machine.open();
    await Promise.all([driver.start(wanted), second.start(wanted)]);
    await waitForState(second, wanted.id, "running");
    expect((await driver.list()).filter(({ id }) => id === wanted.id)).toHaveLength(1);
  });

  test("the error names an absent GPU, a type without an image and an image that no node can fetch", async () => {
    await expect(driver.start(testSpec({ gpus: ["lost-gpu-1"] }))).rejects.toMatchObject({ code: "no_gpu" });
    await expect(driver.start(testSpec({ image: "pytorch" }))).rejects.toMatchObject({ code: "no_image" });
    const options = { ...machine.optionsOf("poor"), images: async () => "localhost:1/nothing/here:1" };
    const message = expect.stringContaining("No node of the cluster can fetch localhost:1/nothing/here:1");
    await expect(kubernetesDriver(options).prepare("jupyter")).rejects.toMatchObject({ code: "no_image", message });
  });

  test("a run above its memory limit ends as out of memory", async () => {
    const wanted = await begin(testSpec({ limits: { cpus: 1, memoryMb: 24, shmMb: 16, pids: 50, diskGb: 1 } }));
    expect(await waitForState(driver, wanted.id, "stopped")).toMatchObject({ exit: { outOfMemory: true } });
  });
});

/** A run without files of its own, whose owner may write this program. */
function withProgram({ metadata, spec }: V1Pod, path: string): V1Pod {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const [lab] = spec?.containers ?? [];
  const command = ["/bin/sh", "-c", `touch ${path}; chmod 755 ${path}; exec sleep 600`];
  const mounts = [...(lab?.volumeMounts ?? []), { name: "bin", mountPath: folder }];
  const volumes = (spec?.volumes ?? []).map((volume) =>
    volume.name === "home" ? { name: "home", emptyDir: {} } : volume,
  );
  return {
    ...(metadata && { metadata }),
    spec: {
      ...spec,
      containers: [{ ...lab, name: "lab", command, volumeMounts: mounts }],
      volumes: [...volumes, { name: "bin", emptyDir: {} }],
    },
  };
}
