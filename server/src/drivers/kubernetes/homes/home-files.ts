import { randomUUID } from "node:crypto";
import type { V1Affinity, V1Pod, V1PodList } from "@kubernetes/client-node";
import { checkSegment } from "../../check-segment.ts";
import { DriverError } from "../../driver.ts";
import { archiveScript } from "../../homes/archive-script.ts";
import { countScript, parseCount } from "../../homes/count-script.ts";
import { type HomeStore, notEmpty } from "../../homes/home-store.ts";
import { packArchive } from "../../homes/pack-archive.ts";
import { inPieces, notEmptyMark, restoreScript } from "../../homes/restore-script.ts";
import { backgroundLimitMs, openSizeCache } from "../../homes/size-cache.ts";
import { orAbsent } from "../cluster/cluster-errors.ts";
import { ExecFailure, execInPod, execOutput } from "../cluster/exec-in-pod.ts";
import { label, labelsOf, podsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { untilPod } from "../cluster/watch-pods.ts";
import {
  claimOf,
  homeInside,
  isolatedContainer,
  isolatedPod,
  labContainer,
  onlyOn,
  type Placement,
} from "../pods/pod-body.ts";
import { type ClaimDeps, findClaim, makeClaim } from "./home-claims.ts";

export interface FilesDeps extends Placement {
  readonly cluster: Cluster;
  /** Reference of an image of ours by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
}

/**
 * Sizes and archives of homes. The work is done in a pod of ours that mounts the home and lives for this work only, on the node
 * of the run where there is one: in the run's own pod its owner could change what is said (G313). Only the figure on the owner's
 * page is counted there, because it decides nothing (G352).
 */
export function openHomeFiles(deps: FilesDeps & Pick<ClaimDeps, "storageClass">): Pick<
  HomeStore,
  "sizeMb" | "recentMb" | "archive" | "countHome" | "restore"
> & {
  readonly forget: (home: string) => void;
  /** Removes pods for work on files that ended by their deadline, because the server that made them was killed. */
  readonly removeEnded: (pods: readonly V1Pod[]) => Promise<void>;
} {
  const { cluster } = deps;
  const script = `du -sk ${homeInside} 2>/dev/null`;
  const megabytes = (output: string) => (Number(output.match(/^\d+/)?.[0] ?? 0) * 1024) / 1e6;
  const count = async (home: string, signal: AbortSignal) => {
    let output = "";
    for await (const bytes of runInHome(deps, checkSegment("home", home), { script }, signal)) output += bytes;
    return megabytes(output);
  };
  const countForPage = async (home: string, signal: AbortSignal) => {
    const run = await runOn(deps, home, signal);
    if (!run) return await count(home, signal);
    const program = {
      pod: run.metadata?.name ?? "",
      container: labContainer,
      command: ["/bin/sh", "-c", `${script}; :`],
    };
    return megabytes(await execOutput(cluster, { ...program, signal }));
  };
  return {
    ...openSizeCache({
      count: (home) => cluster.withTimeout((signal) => count(home, signal)),
      countInBackground: (home) => countForPage(home, AbortSignal.timeout(backgroundLimitMs)),
    }),
    async removeEnded(pods) {
      const ended = pods.filter(({ metadata, status }) => {
        return (
          metadata?.labels?.[label.part] === "files" && (status?.phase === "Failed" || status?.phase === "Succeeded")
        );
      });
      for (const { metadata } of ended) await removeFilesPod(cluster, metadata?.name ?? "");
    },
    archive(home, signal) {
      return archiveHome(deps, checkSegment("home", home), signal);
    },
    async countHome(home, signal) {
      let text = "";
      for await (const bytes of runInHome(
        deps,
        checkSegment("home", home),
        { script: countScript(homeInside) },
        signal,
      ))
        text += bytes;
      return text === "" ? undefined : parseCount(text);
    },
    async restore(spec, archive, signal) {
      await cluster.withTimeout((limit) => makeClaim(deps, spec, spec.node, limit));
      const work = { script: restoreScript(homeInside), input: inPieces(archive), node: spec.node };
      try {
        for await (const _ of runInHome(deps, spec.home, work, signal));
      } catch (error) {
        throw String(error).includes(notEmptyMark) ? notEmpty(spec.home) : error;
      }
    },
  };
}

async function* archiveHome(deps: FilesDeps, home: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  for await (const bytes of runInHome(deps, home, { script: archiveScript(homeInside) }, signal)) {
    isEmpty = false;
    yield bytes;
  }
  if (isEmpty) yield* packArchive((async function* () {})(), signal);
}

interface Work {
  readonly script: string;
  /** Its stdin; then it may write. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Where it is done; undefined: on any node that can mount the files. */
  readonly node?: string | undefined;
}

/** Stdout of a shell script beside a home's files; none for an absent home. Exit code 1 is success: files may change under it. */
async function* runInHome(
  deps: FilesDeps,
  home: string,
  { script, input, node }: Work,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  const { cluster } = deps;
  signal.throwIfAborted();
  try {
    const run = await runOn(deps, home, signal);
    if (!run && !(await findClaim(cluster, home, signal))) return;
    const place = run ? { beside: run.spec?.nodeName } : { node };
    const pod = await openFilesPod(deps, { home, ...place, readOnly: input === undefined }, signal);
    const command = ["/bin/sh", "-c", script];
    try {
      yield* execInPod(cluster, { pod, container: labContainer, command, input, codes: [0, 1], signal });
    } finally {
      await removeFilesPod(cluster, pod);
    }
  } catch (error) {
    if (error instanceof ExecFailure)
      throw new DriverError("unavailable", `Work on the files of ${home} failed: ${error.message}`, { cause: error });
    throw signal.aborted ? signal.reason : cluster.explain(error);
  }
}

/** The pod of a run that has the files mounted. */
async function runOn({ cluster, install }: FilesDeps, home: string, signal: AbortSignal): Promise<V1Pod | undefined> {
  const query = { labelSelector: `${label.install}=${install},${label.part}=run,${label.home}=${claimOf(home)}` };
  const { items } = await cluster.call<V1PodList>({ path: podsPath(cluster), query, signal });
  return items.find(({ metadata, status }) => {
    return status?.containerStatuses?.[0]?.state?.running && !metadata?.deletionTimestamp;
  });
}

/** Longer than any archive should take; the cluster then ends a pod whose server was killed. */
const longestSeconds = 6 * 3600;

interface FilesPod extends Pick<Work, "node"> {
  readonly home: string;
  /** The node of the run that has the files mounted, cordoned or not: a volume may be attached to one node only. */
  readonly beside?: string | undefined;
  readonly readOnly: boolean;
}

async function openFilesPod(deps: FilesDeps, wanted: FilesPod, signal: AbortSignal): Promise<string> {
  const { cluster, install } = deps;
  const { home, readOnly } = wanted;
  const image = await deps.images("jupyter");
  if (!image) throw new DriverError("no_image", "The cluster has no image of ours: KUBERNETES_IMAGES names them");
  const name = `files-${randomUUID()}`;
  const resources = { requests: { cpu: "10m", memory: "32Mi" }, limits: { cpu: "1", memory: "256Mi" } };
  const body: V1Pod = {
    metadata: { name, labels: { ...labelsOf(install, "files"), [label.home]: claimOf(home) } },
    spec: {
      ...placedPod(deps, wanted),
      activeDeadlineSeconds: longestSeconds,
      containers: [
        {
          ...isolatedContainer,
          name: labContainer,
          image,
          command: ["sleep", "infinity"],
          resources,
          volumeMounts: [{ name: "home", mountPath: homeInside, readOnly }],
        },
      ],
      volumes: [{ name: "home", persistentVolumeClaim: { claimName: claimOf(home) } }],
    },
  };
  await cluster.call({ method: "POST", path: podsPath(cluster), body, signal });
  try {
    await untilPod(cluster, name, (pod) => pod?.status?.phase !== "Pending", signal);
  } catch (error) {
    await removeFilesPod(cluster, name);
    throw error;
  }
  return name;
}

function placedPod(deps: FilesDeps, { beside, node, readOnly }: FilesPod): ReturnType<typeof isolatedPod> {
  const pod = isolatedPod(deps);
  const cordon = { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" };
  if (beside !== undefined)
    return { ...pod, affinity: onlyOn(beside), tolerations: [...(pod.tolerations ?? []), cordon] };
  return readOnly ? pod : { ...pod, affinity: node === undefined ? nearGpus : onlyOn(node) };
}

/** A volume of one node is made where its first pod runs, and the environment is to find GPUs there. */
const nearGpus: V1Affinity = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, preference: { matchExpressions: [{ key: "nvidia.com/gpu.product", operator: "Exists" }] } },
    ],
  },
};

/** It only sleeps, so the record may go at once. A failure leaves it to its deadline. */
async function removeFilesPod(cluster: Cluster, name: string): Promise<void> {
  const path = podsPath(cluster, name);
  const body = { gracePeriodSeconds: 0 };
  await cluster
    .withTimeout((signal) => orAbsent(cluster.call({ method: "DELETE", path, body, signal })))
    .catch(() => {});
}
