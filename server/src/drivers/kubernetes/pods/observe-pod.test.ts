import type { V1ContainerState, V1PodStatus } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { annotation } from "../cluster/objects.ts";
import { observePod } from "./observe-pod.ts";

const createdAt = new Date("2026-01-02T03:04:05Z");
const startedAt = new Date("2026-01-02T03:04:07Z");
const annotations = { [annotation.generation]: "3", [annotation.spec]: "hash", [annotation.gpus]: "a-gpu-1,a-gpu-2" };
const run = { generation: 3, specHash: "hash", gpus: ["a-gpu-1", "a-gpu-2"], createdAt };

function observed(status: V1PodStatus, state?: V1ContainerState) {
  const containerStatuses = state && [{ name: "lab", image: "", imageID: "", ready: false, restartCount: 0, state }];
  return observePod({
    metadata: { annotations, creationTimestamp: createdAt },
    status: { ...status, ...(containerStatuses && { containerStatuses }) },
  });
}

test("a pod that waits for a node, an image or an address is starting", () => {
  expect(observed({ phase: "Pending" })).toEqual({ ...run, state: "starting" });
  expect(observed({ phase: "Pending" }, { waiting: { reason: "ImagePullBackOff" } })).toMatchObject({
    state: "starting",
  });
  expect(observed({ phase: "Running" }, { running: { startedAt } })).toMatchObject({ state: "starting" });
});

test("a pod whose container runs is running at its own address", () => {
  expect(observed({ phase: "Running", podIP: "10.1.2.3" }, { running: { startedAt } })).toEqual({
    ...run,
    startedAt,
    state: "running",
    endpoint: { host: "10.1.2.3", port: 8888 },
  });
});

test("a pod whose container ended is stopped with its code; one that was evicted counts as killed", () => {
  const ended = (exitCode: number, reason: string) =>
    observed({ phase: "Failed" }, { terminated: { exitCode, reason, startedAt } });
  expect(ended(137, "OOMKilled")).toEqual({
    ...run,
    startedAt,
    state: "stopped",
    exit: { code: 137, outOfMemory: true },
  });
  expect(ended(3, "Error")).toMatchObject({ exit: { code: 3, outOfMemory: false } });
  expect(observed({ phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." })).toEqual({
    ...run,
    state: "stopped",
    exit: {
      code: 137,
      outOfMemory: false,
      evicted: { cause: "machine", message: "Evicted: The node was low on resource: memory." },
    },
  });
});

test.each([
  [
    { reason: "Evicted", message: "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. " },
    "disk",
  ],
  [{ reason: "Evicted", message: 'Usage of EmptyDir volume "tmp" exceeds the limit "512Mi". ' }, "disk"],
  [
    { reason: "Evicted", message: "The node was low on resource: ephemeral-storage. Container lab was using 2Gi" },
    "machine",
  ],
  [{ reason: "Terminated", message: "Pod was terminated in response to imminent node shutdown." }, "machine"],
  [{ conditions: [{ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }] }, "machine"],
])("a pod that ended with %o was evicted because of its %s", (status, cause) => {
  expect(observed({ phase: "Failed", ...status })).toMatchObject({ state: "stopped", exit: { evicted: { cause } } });
});
