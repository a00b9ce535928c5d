import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { testSpec } from "../../testing/drive-run.ts";
import { annotation } from "../cluster/objects.ts";
import { podBody } from "../pods/pod-body.ts";
import { expectedGpus, expectedPods, gpuNodes, isAwaited } from "./expected-gpus.ts";

const labels = { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960" };

const node = (name: string, gpus = "2"): V1Node => ({
  metadata: { name, labels: { ...labels, "kubernetes.io/hostname": `${name}.example` } },
  status: { capacity: { "nvidia.com/gpu": gpus } },
});

/** The pod of a run on this expected node, which got that real one, or waits and may not use those of `except`. */
function pod(expected: string, got?: string, except: readonly string[] = []): V1Pod {
  const context = { install: "abc", image: "image", nodeSelector: {}, runtimeClass: undefined, pullSecret: undefined };
  const body = podBody(testSpec({ id: `on-${expected}`, gpus: [`${expected}-gpu-1`] }), {
    ...{ ...context, node: undefined, except },
  });
  return { ...body, spec: { containers: [], ...body.spec, ...(got && { nodeName: got }) } };
}

function offered(joined: readonly V1Node[], pods: readonly V1Pod[] = [], nodes = 3) {
  const gpus = expectedGpus({ nodes, gpus: 2, product: "" }, joined, expectedPods(pods));
  return [...new Set(gpus.map((gpu) => gpu.node))];
}

test("G201 GPUs of nodes that may come are offered, with the model of those that are there or of the setting", () => {
  const gpus = (product: string, joined: readonly V1Node[]) =>
    expectedGpus({ nodes: 2, gpus: 2, product }, joined, []).map(({ id, model, memoryMb }) => [id, model, memoryMb]);
  expect(gpus("", [node("a")])).toEqual([
    ["new:1-gpu-1", "A100 SXM4 40GB", 40_960],
    ["new:1-gpu-2", "A100 SXM4 40GB", 40_960],
  ]);
  expect(gpus("NVIDIA-A100-SXM4-40GB", [node("a")])[0]).toEqual(["new:1-gpu-1", "A100 SXM4 40GB", 40_960]);
  expect(gpus("NVIDIA-L4", [node("a")])[0]).toEqual(["new:1-gpu-1", "L4", 0]);
  expect(gpus("NVIDIA-L4", [])).toHaveLength(4);
  expect(gpus("", [])[0]).toEqual(["new:1-gpu-1", "GPU", 0]);
});

test("G201 a node that joins takes the place of the one that its pods waited for, else of the last", () => {
  expect(offered([])).toEqual(["new:1", "new:2", "new:3"]);
  expect(offered([node("a")])).toEqual(["new:1", "new:2"]);
  expect(offered([node("a")], [pod("new:1", "a")])).toEqual(["new:2", "new:3"]);
  expect(offered([node("a")], [pod("new:3")])).toEqual(["new:3", "new:1"]);
  expect(offered([node("a"), node("b"), node("c"), node("d")])).toEqual([]);
  expect(offered(gpuNodes([node("a"), node("cpu", "0")]))).toEqual(["new:1", "new:2"]);
});

test("G201 a node that a waiting pod may get is kept for it, one that was there before is not", () => {
  const waiting = expectedPods([pod("new:1", undefined, ["old.example"]), pod("new:2", "b")]);
  expect([node("old"), node("x")].map((each) => isAwaited(each, waiting))).toEqual([false, true]);
  expect(isAwaited(node("x"), expectedPods([pod("new:1", "x", ["old.example"])]))).toBe(false);
  const first = expectedPods([pod("new:1")]);
  expect(isAwaited(node("x"), first)).toBe(true);
});

test("runs on real nodes and ended ones are no expected pods", () => {
  const real: V1Pod = { metadata: { annotations: { [annotation.gpus]: "a-gpu-1" } } };
  const slots: V1Pod = { metadata: { annotations: { [annotation.gpus]: "" } } };
  const ended: V1Pod = { ...pod("new:1"), status: { phase: "Failed" } };
  expect(expectedPods([real, slots, ended, {}])).toEqual([]);
  expect(expectedPods([pod("new:2", "b")])).toMatchObject([{ id: "on-new:2", expected: "new:2", node: "b" }]);
});
