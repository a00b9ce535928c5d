import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { gpuFaultOf } from "./gpu-fault-of.ts";

const node = (healthy?: string): V1Node => ({
  status: { capacity: { "nvidia.com/gpu": "8" }, ...(healthy && { allocatable: { "nvidia.com/gpu": healthy } }) },
});

function pod(...health: readonly string[]): V1Pod {
  const resources = health.map((each, index) => ({ resourceID: `GPU-${index}`, health: each }));
  const lab = { name: "lab", image: "i", imageID: "i", ready: true, restartCount: 0 };
  const allocatedResourcesStatus = [{ name: "nvidia.com/gpu", resources }];
  const spec = { nodeName: "a", containers: [] };
  return { spec, status: { containerStatuses: [{ ...lab, ...(health.length > 0 && { allocatedResourcesStatus }) }] } };
}

test("G313 a run's GPU that its device plugin reports as unhealthy is a fault", () => {
  expect(gpuFaultOf(pod("Healthy", "Unhealthy"), node("7"), 2)).toBe(
    "the device plugin of a reports GPU-1 as unhealthy",
  );
  expect(gpuFaultOf(pod("Healthy", "Unknown"), node("8"), 2)).toBeUndefined();
});

test("without that report a run has a fault when its node has fewer healthy GPUs than it; another's is not its own", () => {
  expect(gpuFaultOf(pod(), node("7"), 8)).toBe("the device plugin of a has 7 healthy GPUs for a run of 8");
  expect(gpuFaultOf(pod(), node("7"), 1)).toBeUndefined();
  expect(gpuFaultOf(pod(), node("8"), 8)).toBeUndefined();
  expect(gpuFaultOf(pod(), node(), 0), "CPU slots").toBeUndefined();
});

test("a device plugin that offers nothing, and a node that is gone, say nothing about the GPUs", () => {
  for (const silent of [node("0"), node(), undefined])
    expect(() => gpuFaultOf(pod("Healthy"), silent, 1)).toThrow(/^The device plugin of a offers no GPU/);
});
