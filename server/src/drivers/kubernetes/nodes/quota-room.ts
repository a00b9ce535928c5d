import type { V1Pod, V1ResourceQuota } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import { diskGb, unitLimits } from "../../unit-limits.ts";
import { annotation } from "../cluster/objects.ts";
import { gpuSlots, unitResources } from "../pods/pod-body.ts";
import { quantityOf, timesIn } from "./quantity-of.ts";

/**
 * What the quotas of a namespace leave room for (G200): units of GPUs or of CPU slots in all, those of these `pods` of runs
 * included, and more homes of a storage class.
 */
export function quotaRoom(
  quotas: readonly V1ResourceQuota[],
  pods: readonly V1Pod[],
  { kind, storageClass }: { readonly kind: "gpu" | "cpu"; readonly storageClass: string | undefined },
): Pick<Capabilities, "room" | "newHomes"> {
  const ours = quotas.filter(isOfRuns);
  const more = roomIn(ours, unitQuota(kind));
  const newHomes = roomIn(ours, homeQuota(storageClass));
  return {
    ...(more !== undefined && { room: more + pods.map(unitsOf).reduce((sum, each) => sum + each, 0) }),
    ...(newHomes !== undefined && { newHomes }),
  };
}

/** How many times `wanted` fits into all quotas; undefined where none of them limits it. */
function roomIn(quotas: readonly V1ResourceQuota[], wanted: Readonly<Record<string, string>>): number | undefined {
  const times = quotas.map(({ status }) =>
    timesIn(wanted, (name) => {
      const hard = status?.hard?.[name];
      return hard === undefined ? undefined : Math.max(0, quantityOf(hard) - quantityOf(status?.used?.[name]));
    }),
  );
  const least = Math.min(...times);
  return Number.isFinite(least) ? least : undefined;
}

/** A quota for other pods than ours, such as those of a priority, is none for us. */
function isOfRuns({ spec }: V1ResourceQuota): boolean {
  const ours = ["NotBestEffort", "NotTerminating"];
  return !spec?.scopeSelector && (spec?.scopes ?? []).every((scope) => ours.includes(scope));
}

/** One unit, by the names that quotas use. An order of several is one pod; counting one for each sells less, never more. */
function unitQuota(kind: "gpu" | "cpu"): Readonly<Record<string, string>> {
  const { requests = {}, limits = {} } = unitResources(kind);
  const prefixed = (prefix: string, all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([name, each]) => [`${prefix}.${name}`, each]));
  const { cpu = "0", memory = "0" } = requests;
  const pods = { pods: "1", "count/pods": "1" };
  return { ...prefixed("requests", requests), ...prefixed("limits", limits), cpu, memory, ...pods };
}

function homeQuota(storageClass: string | undefined): Readonly<Record<string, string>> {
  const wanted = { persistentvolumeclaims: "1", "requests.storage": `${diskGb}G` };
  const ofClass = Object.entries(wanted).map(([name, each]) => [
    `${storageClass}.storageclass.storage.k8s.io/${name}`,
    each,
  ]);
  return { ...wanted, "count/persistentvolumeclaims": "1", ...Object.fromEntries(storageClass ? ofClass : []) };
}

function unitsOf({ metadata, spec, status }: V1Pod): number {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return 0;
  const slots = gpuSlots(metadata?.annotations?.[annotation.gpus]?.split(",") ?? []).length;
  const cpus = quantityOf(spec?.containers[0]?.resources?.limits?.["cpu"]);
  return slots || Math.max(1, Math.round(cpus / unitLimits.cpus));
}
