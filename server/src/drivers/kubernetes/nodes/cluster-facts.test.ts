import { expect, test } from "vitest";
import { factsOf } from "./cluster-facts.ts";

const node = (
  name: string,
  gpus: string,
  { ready = "True", cordoned = false, labels = {}, allocatable = {} } = {},
) => ({
  metadata: { name, labels },
  spec: { unschedulable: cordoned },
  status: {
    allocatable: { "nvidia.com/gpu": gpus, memory: "65295808Ki", cpu: "8", ...allocatable },
    conditions: [{ type: "Ready", status: ready }],
  },
});
const labels = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559" };

test("each GPU of a ready node is a slot with its model; cordoned and lost nodes offer nothing", () => {
  const { gpus, nodes, closedNodes, memoryMb } = factsOf(
    [
      node("a", "2", { labels }),
      node("b", "1"),
      node("c", "4", { cordoned: true }),
      node("d", "4", { ready: "Unknown" }),
    ],
    {},
  );
  expect(gpus).toEqual([
    { id: "a-gpu-1", model: "H100 80GB HBM3", memoryMb: 81_559, node: "a" },
    { id: "a-gpu-2", model: "H100 80GB HBM3", memoryMb: 81_559, node: "a" },
    { id: "b-gpu-1", model: "GPU", memoryMb: 0, node: "b" },
  ]);
  expect([...nodes.values()]).toEqual(["a", "a", "b"]);
  expect(closedNodes).toEqual([
    { node: "c", reason: "the node c is cordoned: kubectl uncordon c" },
    { node: "d", reason: "the node d is not ready: kubectl describe node d" },
  ]);
  expect(memoryMb).toBe(2 * 63_765);
});

test("G200 a node sells no more GPUs or CPU slots than its memory, cores and pods are enough for", () => {
  const sold = (gpus: string, allocatable: Record<string, string>) => {
    const facts = factsOf([node("a", gpus, { allocatable })], {});
    return [facts.gpus.length, facts.cpuRoom];
  };
  expect(sold("8", {})).toEqual([3, 32]);
  expect(sold("8", { memory: "200Gi" })).toEqual([8, 32]);
  expect(sold("8", { memory: "200Gi", cpu: "2500m" })).toEqual([2, 10]);
  expect(sold("8", { memory: "200Gi", pods: "1" })).toEqual([1, 1]);
  expect(sold("1", { memory: "8Gi" })).toEqual([0, 8]);
  expect(sold("0", {})).toEqual([0, 32]);
});
