import type { V1ContainerStateTerminated, V1Pod } from "@kubernetes/client-node";
import type { Observed } from "../../driver.ts";
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
    return { ...run, ...startOf(terminated?.startedAt), state: "stopped", exit: exitOf(terminated) };
  if (running && status?.podIP)
    return { ...run, ...startOf(running.startedAt), state: "running", endpoint: { host: status.podIP, port: labPort } };
  return { ...run, state: "starting" };
}

const startOf = (at: Date | string | undefined) => (at ? { startedAt: new Date(at) } : {});

function exitOf(terminated: V1ContainerStateTerminated | undefined) {
  return { code: terminated?.exitCode ?? killed, outOfMemory: terminated?.reason === "OOMKilled" };
}
