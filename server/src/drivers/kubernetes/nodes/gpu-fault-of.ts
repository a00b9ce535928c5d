import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { DriverError } from "../../driver.ts";
import { gpuResource } from "../pods/pod-body.ts";
import { quantityOf } from "./quantity-of.ts";

/**
 * As `Driver.gpuFault`, by what the kubelet and its device plugin say of the GPUs of a run, never by anything that runs inside,
 * which its owner can end or change (G313). One GPU of several on a node cannot be told apart where the cluster does not report
 * the health of a pod's devices: then nothing is found, unless the run has more GPUs than the node has healthy ones.
 */
export function gpuFaultOf({ spec, status }: V1Pod, node: V1Node | undefined, count: number): string | undefined {
  if (count === 0) return undefined;
  const devices = (status?.containerStatuses ?? [])
    .flatMap(({ allocatedResourcesStatus = [] }) => allocatedResourcesStatus)
    .filter(({ name }) => name === gpuResource)
    .flatMap(({ resources = [] }) => resources);
  const sick = devices.filter(({ health }) => health === "Unhealthy").map(({ resourceID }) => resourceID);
  if (sick.length > 0) return `the device plugin of ${spec?.nodeName} reports ${sick.join(", ")} as unhealthy`;
  const healthy = quantityOf(node?.status?.allocatable?.[gpuResource]);
  // A device plugin that is gone, or begins anew, looks the same as GPUs that are all broken.
  if (healthy === 0)
    throw new DriverError("unavailable", `The device plugin of ${spec?.nodeName} offers no GPU, which is inconclusive`);
  if (healthy >= count) return undefined;
  return `the device plugin of ${spec?.nodeName} has ${healthy} healthy GPUs for a run of ${count}`;
}
