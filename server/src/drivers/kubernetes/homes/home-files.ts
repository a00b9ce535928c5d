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
import { ExecFailure, execInPod } from "../cluster/exec-in-pod.ts";
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
 * Sizes and archives of homes. The work is done in a pod that mounts the home: the run's own, where its limits bound it, or
 * one that lives for this work only.
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
  const count = async (home: string, signal: AbortSignal) => {
    const script = `du -sk ${homeInside} 2>/dev/null`;
    let text = "";
    for await (const bytes of runInHome(deps, checkSegment("home", home), { script }, signal)) text += bytes;
    return (Number(text.match(/^\d+/)?.[0] ?? 0) * 1024) / 1e6;
  };
  return {
    ...openSizeCache({
      count: (home) => cluster.withTimeout((signal) => count(home, signal)),
      countInBackground: (home) => count(home, AbortSignal.timeout(backgroundLimitMs)),
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
    const running = await podWith(deps, home, signal);
    if (!running && !(await findClaim(cluster, home, signal))) return;
    const pod = running ?? (await openFilesPod(deps, { home, node, readOnly: input === undefined }, signal));
    const command = ["/bin/sh", "-c", script];
    try {
      yield* execInPod(cluster, { pod, container: labContainer, command, input, codes: [0, 1], signal });
    } finally {
      if (!running) await removeFilesPod(cluster, pod);
    }
  } catch (error) {
    if (error instanceof ExecFailure)
      throw new DriverError("unavailable", `Work on the files of ${home} failed: ${error.message}`, { cause: error });
    throw signal.aborted ? signal.reason : cluster.explain(error);
  }
}

/** The name of a run's pod in which a program can be started beside the files. */
async function podWith({ cluster, install }: FilesDeps, home: string, signal: AbortSignal) {
  const query = { labelSelector: `${label.install}=${install},${label.part}=run,${label.home}=${claimOf(home)}` };
  const { items } = await cluster.call<V1PodList>({ path: podsPath(cluster), query, signal });
  return items.find(({ metadata, status }) => {
    return status?.containerStatuses?.[0]?.state?.running && !metadata?.deletionTimestamp;
  })?.metadata?.name;
}

/** Longer than any archive should take; the cluster then ends a pod whose server was killed. */
const longestSeconds = 6 * 3600;

interface FilesPod extends Pick<Work, "node"> {
  readonly home: string;
  readonly readOnly: boolean;
}

async function openFilesPod(deps: FilesDeps, { home, node, readOnly }: FilesPod, signal: AbortSignal): Promise<string> {
  const { cluster, install } = deps;
  const image = await deps.images("jupyter");
  if (!image) throw new DriverError("no_image", "The cluster has no image of ours: KUBERNETES_IMAGES names them");
  const name = `files-${randomUUID()}`;
  const resources = { requests: { cpu: "10m", memory: "32Mi" }, limits: { cpu: "1", memory: "256Mi" } };
  const body: V1Pod = {
    metadata: { name, labels: { ...labelsOf(install, "files"), [label.home]: claimOf(home) } },
    spec: {
      ...isolatedPod(deps),
      ...(!readOnly && { affinity: node === undefined ? nearGpus : onlyOn(node) }),
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
