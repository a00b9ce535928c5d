import type { V1ContainerStateTerminated, V1Pod, V1PodStatus } from "@kubernetes/client-node";
import type { Eviction, Observed } from "../../driver.ts";
import { annotation } from "../cluster/objects.ts";
import { labPort } from "./pod-body.ts";

/** Exit code of a run whose pod ended without one, such as by an eviction: as of a SIGKILL. */
export const killed = 137;

/** The cluster's record of one of our pods, as the driver port describes a run. */
export function observePod({ metadata, status }: V1Pod): Observed {
  const notes = metadata?.annotations ?? {};
  const run = {
    generation: Number(notes[annotation.generation]),
    specHash: notes[annotation.spec] ?? "",
    gpus: notes[annotation.gpus]?.split(",").filter(Boolean) ?? [],
    createdAt: new Date(metadata?.creationTimestamp ?? 0),
  };
  const { running, terminated } = status?.containerStatuses?.[0]?.state ?? {};
  if (terminated || status?.phase === "Failed" || status?.phase === "Succeeded")
    return { ...run, ...startOf(terminated?.startedAt), state: "stopped", exit: exitOf(terminated, status) };
  if (running && status?.podIP)
    return { ...run, ...startOf(running.startedAt), state: "running", endpoint: { host: status.podIP, port: labPort } };
  return { ...run, state: "starting" };
}

const startOf = (at: Date | string | undefined) => (at ? { startedAt: new Date(at) } : {});

function exitOf(terminated: V1ContainerStateTerminated | undefined, status: V1PodStatus | undefined) {
  const evicted = evictionOf(status);
  return {
    code: terminated?.exitCode ?? killed,
    outOfMemory: terminated?.reason === "OOMKilled",
    ...(evicted && { evicted }),
  };
}

/** By the kubelet, which needs the space or shuts down, or by whoever drains the node. */
function evictionOf(status: V1PodStatus | undefined): Eviction | undefined {
  const disruption = status?.conditions?.find((each) => each.type === "DisruptionTarget" && each.status === "True");
  const reason = status?.reason ?? disruption?.reason;
  if (!reason) return undefined;
  const message = status?.message ?? disruption?.message ?? "";
  // "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi."
  const cause = /ephemeral|EmptyDir/i.test(message) && /exceeds/i.test(message) ? "disk" : "machine";
  return { cause, message: `${reason}: ${message}` };
}
