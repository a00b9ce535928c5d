import { expect, test } from "vitest";
import { factsOf } from "./cluster-facts.ts";

const node = (name: string, gpus: string, { ready = "True", cordoned = false, labels = {} } = {}) => ({
  metadata: { name, labels },
  spec: { unschedulable: cordoned },
  status: {
    allocatable: { "nvidia.com/gpu": gpus, memory: "16323952Ki" },
    conditions: [{ type: "Ready", status: ready }],
  },
});
const labels = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559" };

test("each GPU of a ready node is a slot with its model; cordoned and lost nodes offer nothing", () => {
  const { gpus, nodes, memoryMb } = factsOf(
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
  expect(memoryMb).toBe(2 * 15_941);
});
