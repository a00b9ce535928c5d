import type { V1PodList } from "@kubernetes/client-node";
import { keyedMutex } from "../../async/keyed-mutex.ts";
import { checkSpec } from "../check-segment.ts";
import { type Capabilities, type Driver, DriverError, type RunProcess } from "../driver.ts";
import { execOutput } from "./cluster/exec-in-pod.ts";
import { annotation, label, podsPath } from "./cluster/objects.ts";
import { type ClusterAddress, openCluster } from "./cluster/open-cluster.ts";
import { watchRuns } from "./cluster/watch-pods.ts";
import { deleteClaim, makeClaim } from "./homes/home-claims.ts";
import { openHomeFiles } from "./homes/home-files.ts";
import { nodesOfHome } from "./homes/nodes-of-home.ts";
import { prepareImage } from "./images/prepare-image.ts";
import { keepPolicies } from "./network/keep-policies.ts";
import { nodeReader } from "./nodes/cluster-facts.ts";
import type { Autoscaler } from "./nodes/expected-gpus.ts";
import { gpuFaultOf } from "./nodes/gpu-fault-of.ts";
import { openCapacity } from "./nodes/open-capacity.ts";
import { gpuUsage } from "./pods/gpu-usage.ts";
import { gpuSlots, labContainer, type Placement, podNameOf } from "./pods/pod-body.ts";
import { podLogs } from "./pods/pod-logs.ts";
import { eventReader } from "./pods/read-events.ts";
import { usageOf, usageScript } from "./pods/run-usage.ts";
import {
  findPod,
  type LifecycleDeps,
  longestGraceMs,
  observedOf,
  observeRun,
  removeRun,
  startRun,
} from "./run-lifecycle.ts";

export interface KubernetesOptions extends ClusterAddress, Placement {
  /** Storage class of homes; undefined: the cluster's default. */
  readonly storageClass: string | undefined;
  /** As `AwayDeps.moveAfter`. */
  readonly moveAfter: number | undefined;
  /** As `CapacityDeps.autoscaler`. */
  readonly autoscaler: Autoscaler | undefined;
  /** Networks (CIDR) of gateways and workers outside the cluster; empty: the pods of Berth in the server's namespace. */
  readonly clients: readonly string[];
  /** Public networks (CIDR) of the cluster that no run may reach, beside those of pods that the nodes name. */
  readonly closed: readonly string[];
  /** An image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
}

type Deps = LifecycleDeps & {
  readonly files: ReturnType<typeof openHomeFiles>;
  readonly deleteClaim: (home: string, signal: AbortSignal) => Promise<void>;
};

/**
 * Pods of one namespace of a Kubernetes cluster. Labels and annotations on each object hold its owner and its spec, so nothing
 * is kept in memory: any number of drivers agree, before and after a crash. Without a kubeconfig its operations throw
 * `unavailable`.
 */
export function kubernetesDriver(options: KubernetesOptions): Driver {
  const cluster = openCluster(options);
  const nodes = nodeReader(cluster);
  const own = { ...options, cluster, nodes, now: cluster.now };
  const capacity = openCapacity(own);
  const policies = keepPolicies(own);
  const deps: Deps = {
    ...own,
    serially: keyedMutex(),
    events: eventReader(cluster),
    ensureNetwork: policies.ensure,
    makeClaim: (spec, node, signal) => makeClaim(own, spec, node, signal),
    deleteClaim: (home, signal) => deleteClaim(own, home, signal),
    files: openHomeFiles(own),
  };
  return {
    kind: "kubernetes",
    machineId: async () => `the namespace ${options.namespace} of the cluster ${await cluster.fingerprint()}`,
    async capabilities(refresh) {
      // A volume's size is a limit where the storage class has real volumes, which cannot be asked for.
      const fixed = { pause: false, warm: "running", diskQuota: false, isolation: isolationOf(options) } as const;
      const room = await capacity(refresh);
      if (refresh) await cluster.withTimeout(policies.renew);
      return { ...fixed, cluster: await cluster.fingerprint(), ...room };
    },
    prepare: (type, progress) => prepareImage(own, type, progress),
    ...readOperations(deps),
    ...gpuOperations(deps),
    ...runOperations(deps),
    homeNode: (home) =>
      cluster.withTimeout(async (signal) => {
        const able = await nodesOfHome(own, home, signal);
        return able?.length === 1 ? able[0]?.metadata?.name : undefined;
      }),
    archive: deps.files.archive,
    homeMb: deps.files.sizeMb,
    countHome: deps.files.countHome,
    restore: deps.files.restore,
    async *logs(id, logOptions) {
      const pod = await cluster.withTimeout((signal) => findPod(deps, id, signal));
      if (pod) yield* podLogs(cluster, podNameOf(id), logOptions);
    },
    watch: (signal) => watchRuns(cluster, options.install, signal),
  };
}

/** By the usual names of runtime classes. */
function isolationOf({ runtimeClass = "" }: Placement): Capabilities["isolation"] {
  if (/gvisor|runsc/i.test(runtimeClass)) return "gvisor";
  return /kata/i.test(runtimeClass) ? "kata" : "container";
}

function readOperations(deps: Deps): Pick<Driver, "observe" | "list" | "stats" | "processes"> {
  const { cluster, install, files } = deps;
  return {
    observe: (id) =>
      cluster.withTimeout(async (signal) => await observeRun(deps, await findPod(deps, id, signal), signal)),
    list: () =>
      cluster.withTimeout(async (signal) => {
        const query = { labelSelector: `${label.install}=${install},${label.part} in (run,files)` };
        const { items } = await cluster.call<V1PodList>({ path: podsPath(cluster), query, signal });
        await files.removeEnded(items);
        const runs = items.filter(({ metadata }) => metadata?.labels?.[label.part] === "run");
        return runs.map((pod) => {
          return { id: pod.metadata?.annotations?.[annotation.environment] ?? "", observed: observedOf(pod) };
        });
      }),
    stats: (id) =>
      cluster.withTimeout(async (signal) => {
        const { pod, home, slots } = await requireRunning(deps, id, signal);
        const command = ["/bin/sh", "-c", usageScript];
        const [output, homeMb, gpus] = await Promise.all([
          execOutput(cluster, { pod, container: labContainer, command, signal }),
          files.recentMb(home),
          gpuUsage(cluster, pod, slots, signal),
        ]);
        return { ...usageOf(output), homeMb, gpus };
      }),
    // Made inside, where its owner can shorten it: it names no executable, so nothing ends by it (G355).
    processes: (id) =>
      cluster.withTimeout(async (signal) => {
        const { pod } = await requireRunning(deps, id, signal);
        const command = ["/bin/ps", "-eo", "pid=,sid=,tty=,args="];
        return processesIn(await execOutput(cluster, { pod, container: labContainer, command, signal }));
      }),
  };
}

/** Rows of `ps -eo pid=,sid=,tty=,args=`, without its own. */
function processesIn(output: string): readonly RunProcess[] {
  const rows = output.split("\n").map((line) => /^ *(\d+) +(\d+) (\S+) (.*)/.exec(line));
  return rows
    .map((row) => {
      const [, pid, session, terminal, command = ""] = row ?? [];
      return { pid: Number(pid), command: command.trim(), inTerminal: terminal !== "?" && session !== pid };
    })
    .filter(({ command }) => command !== "" && !command.startsWith("/bin/ps -eo pid="));
}

/** Throws `refused` when nothing runs. */
async function requireRunning(deps: Deps, id: string, signal: AbortSignal) {
  const found = await findPod(deps, id, signal);
  if (!found || observedOf(found).state !== "running") throw new DriverError("refused", `${id} does not run`);
  const notes = found.metadata?.annotations ?? {};
  const slots = gpuSlots(notes[annotation.gpus]?.split(",") ?? []);
  return { found, pod: podNameOf(id), home: notes[annotation.home] ?? "", slots };
}

function gpuOperations(deps: Deps): Pick<Driver, "gpuFault" | "gpuLeftovers"> {
  return {
    gpuFault: (id) =>
      deps.cluster.withTimeout(async (signal) => {
        const { found, slots } = await requireRunning(deps, id, signal);
        const node = (await deps.nodes(signal)).find(({ metadata }) => metadata?.name === found.spec?.nodeName);
        return gpuFaultOf(found, node, slots.length);
      }),
    // The device plugin gives out no GPU that a pod still has.
    gpuLeftovers: async () => new Map(),
  };
}

function runOperations(deps: Deps): Pick<Driver, "start" | "pause" | "stop" | "remove" | "deleteHome"> {
  const { cluster, serially } = deps;
  /** One operation at a time for each key. */
  const exclusively = <T>(key: string, work: (signal: AbortSignal) => Promise<T>) =>
    cluster.withTimeout((signal) =>
      serially(key, async () => {
        // The timeout may have passed while it waited for the mutex.
        signal.throwIfAborted();
        return await work(signal);
      }),
    );
  const stop = (id: string, graceMs: number) => exclusively(id, (signal) => removeRun(deps, id, graceMs, signal));
  return {
    async start(spec, given) {
      checkSpec(spec);
      await exclusively(spec.id, (limit) => startRun(deps, spec, given ? AbortSignal.any([given, limit]) : limit));
    },
    async pause() {
      throw new DriverError("unsupported", "Kubernetes cannot freeze a pod: stop the environment, its files stay");
    },
    stop,
    remove: (id) => stop(id, longestGraceMs),
    async deleteHome(home) {
      await exclusively(`home ${home}`, (signal) => deps.deleteClaim(home, signal));
      deps.files.forget(home);
    },
  };
}
