import { expect, test } from "vitest";
import { specHash } from "../../spec-hash.ts";
import { testSpec } from "../../testing/drive-run.ts";
import { annotation } from "../cluster/objects.ts";
import { podBody } from "./pod-body.ts";

const context = {
  install: "abc",
  image: "registry.example/jupyter:1",
  nodeSelector: { pool: "gpu" },
  runtimeClass: undefined,
  pullSecret: undefined,
  node: undefined,
};

test("the pod of a run has its limits, its home and no other rights", () => {
  const limits = { cpus: 4, memoryMb: 16_384, shmMb: 1_024, pids: 4096, diskGb: 50 };
  const wanted = testSpec({ gpus: [], limits, token: "secret" });
  const { metadata, spec } = podBody(wanted, context);
  expect(metadata?.annotations).toMatchObject({ [annotation.spec]: specHash(wanted), [annotation.home]: wanted.home });
  expect(JSON.stringify(metadata)).not.toContain("secret");
  // Neither of the usual autoscalers may move it.
  expect(metadata?.annotations).toMatchObject({
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
  });
  expect(spec).toMatchObject({
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { pool: "gpu" },
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
  });
  expect(spec?.runtimeClassName).toBeUndefined();
  const [container] = spec?.containers ?? [];
  expect(container?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(container?.env).toEqual([
    { name: "JUPYTER_TOKEN", value: "secret" },
    { name: "NVIDIA_VISIBLE_DEVICES", value: "void" },
  ]);
  expect(container?.resources?.limits).toEqual({ cpu: "4", memory: "16384Mi", "ephemeral-storage": "1Gi" });
  expect(container?.resources?.requests).toMatchObject({ cpu: "250m", memory: "1024Mi" });
  const sizes = spec?.volumes?.flatMap(({ emptyDir }) => emptyDir?.sizeLimit ?? []);
  expect(sizes).toEqual(["8192Mi", "16Mi", "1024Mi"]);
});

test("GPUs are counted, on the leased node, and their memory is reserved", () => {
  const limits = { cpus: 8, memoryMb: 32_768, shmMb: 2_048, pids: 4096, diskGb: 50 };
  const wanted = testSpec({ gpus: ["node-a-gpu-1", "node-a-gpu-3"], limits, withoutSettings: true });
  const { spec } = podBody(wanted, {
    ...context,
    node: "node-a",
    runtimeClass: "nvidia",
    pullSecret: "key",
  });
  expect(spec).toMatchObject({
    runtimeClassName: "nvidia",
    imagePullSecrets: [{ name: "key" }],
    nodeSelector: { pool: "gpu" },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-a"] }] }],
        },
      },
    },
  });
  const [container] = spec?.containers ?? [];
  expect(container?.resources?.limits).toMatchObject({ "nvidia.com/gpu": "2", memory: "32768Mi" });
  expect(container?.resources?.requests).toMatchObject({ "nvidia.com/gpu": "2", memory: "32768Mi", cpu: "2000m" });
  expect(container?.env?.map(({ name }) => name)).toEqual(["JUPYTER_TOKEN", "WITHOUT_SETTINGS"]);
});

test("G201 a run on a node that is not there yet may use no node whose GPUs others lease", () => {
  const wanted = testSpec({ gpus: ["new:1-gpu-1", "new:1-gpu-2"] });
  const { spec } = podBody(wanted, { ...context, except: ["a.example", "b"] });
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "NotIn", values: ["a.example", "b"] }];
  expect(spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual({
    nodeSelectorTerms: [{ matchExpressions }],
  });
  expect(spec?.containers[0]?.resources?.limits).toMatchObject({ "nvidia.com/gpu": "2" });
  expect(podBody(wanted, { ...context, except: [] }).spec?.affinity).toBeUndefined();
});
