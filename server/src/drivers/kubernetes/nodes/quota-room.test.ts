import type { V1Pod, V1ResourceQuota } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { annotation } from "../cluster/objects.ts";
import { quotaRoom } from "./quota-room.ts";

type Amounts = Record<string, string>;

const quota = (hard: Amounts, used: Amounts = {}, spec: V1ResourceQuota["spec"] = {}) => ({
  spec,
  status: { hard, used },
});

function pod(gpus: string, cpu: string, phase = "Running"): V1Pod {
  const containers = [{ name: "lab", resources: { limits: { cpu } } }];
  return { metadata: { annotations: { [annotation.gpus]: gpus } }, spec: { containers }, status: { phase } };
}

const room = (quotas: readonly V1ResourceQuota[], pods: readonly V1Pod[] = [], kind: "gpu" | "cpu" = "gpu") =>
  quotaRoom(quotas, pods, { kind, storageClass: "fast" });

test("G200 no quota, or none of what runs ask for, leaves room for everything", () => {
  expect(room([])).toEqual({});
  expect(room([quota({ configmaps: "10" })])).toEqual({});
  expect(room([quota({ pods: "0" }, {}, { scopes: ["BestEffort"] })])).toEqual({});
  const operator = "In";
  const scopeSelector = { matchExpressions: [{ scopeName: "PriorityClass", operator, values: ["high"] }] };
  expect(room([quota({ pods: "0" }, {}, { scopeSelector })])).toEqual({});
});

test.each<[Amounts, number]>([
  [{ "requests.nvidia.com/gpu": "5" }, 5],
  [{ pods: "3" }, 3],
  [{ "count/pods": "3" }, 3],
  [{ "requests.memory": "40Gi" }, 2],
  [{ memory: "40Gi" }, 2],
  [{ "requests.cpu": "3500m" }, 3],
  [{ "limits.cpu": "9" }, 2],
  [{ "limits.memory": "16Gi" }, 1],
  [{ "requests.ephemeral-storage": "128Mi" }, 2],
  [{ pods: "9", "requests.nvidia.com/gpu": "0" }, 0],
])("G200 a quota of %o has room for %d GPUs", (hard, expected) => {
  expect(room([quota({ pods: "100" }), quota(hard)])).toEqual({ room: expected });
});

test("G200 what runs takes its part of the quota, and counts as room that is used", () => {
  const pods = [pod("a-gpu-1,a-gpu-2", "8"), pod("a-gpu-3", "4", "Failed")];
  expect(room([quota({ "requests.nvidia.com/gpu": "5" }, { "requests.nvidia.com/gpu": "2" })], pods)).toEqual({
    room: 5,
  });
  // Of others in the namespace is the rest.
  expect(room([quota({ "requests.nvidia.com/gpu": "5" }, { "requests.nvidia.com/gpu": "4" })], pods)).toEqual({
    room: 3,
  });
  expect(room([quota({ pods: "1" }, { pods: "3" })], pods)).toEqual({ room: 2 });
  const slots = [pod("", "8"), pod("", "1")];
  expect(room([quota({ "requests.cpu": "1" }, { "requests.cpu": "500m" })], slots, "cpu")).toEqual({ room: 5 });
});

test.each<[Amounts, number]>([
  [{ persistentvolumeclaims: "4" }, 4],
  [{ "requests.storage": "120G" }, 2],
  [{ "fast.storageclass.storage.k8s.io/requests.storage": "50G" }, 1],
  [{ "count/persistentvolumeclaims": "0" }, 0],
])("G200 a quota of %o has room for %d more homes", (hard, newHomes) => {
  expect(room([quota(hard)])).toEqual({ newHomes });
});
