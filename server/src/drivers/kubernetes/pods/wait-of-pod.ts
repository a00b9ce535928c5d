import type { WaitReason } from "@berth/contract";
import type { CoreV1Event, V1Pod } from "@kubernetes/client-node";
import type { Waiting } from "../../driver.ts";
import { isExpectedNode } from "../../expected-node.ts";
import { annotation } from "../cluster/objects.ts";

/** The reason of a container's state; any other than these, but for the usual ones, is the machine's. */
const containerReasons: readonly (readonly [RegExp, WaitReason | undefined])[] = [
  [/^(ContainerCreating|PodInitializing)?$/, undefined],
  [/Image|Registry|Signature/, "image"],
  [/./, "host"],
];

/** What the newest event says; one that is not here, such as `Pulled`, is progress. */
const eventReasons: readonly (readonly [RegExp, WaitReason])[] = [
  [/^(Pulling|Failed.*Image.*)$/, "image"],
  [/^(Failed(Attach|Map)?(Mount|Volume|Binding|Device)|ExternalProvisioning|Provisioning(Failed)?)$/, "volume"],
  [/^(FailedCreatePod\w+|NetworkNotReady|FailedSync|NodeNotReady)$/, "host"],
];

/**
 * What a pod that does not run yet waits for, by its conditions and by the events of it and its volume (G198); undefined while
 * it makes progress.
 */
export function waitOfPod({ metadata, spec, status }: V1Pod, events: readonly CoreV1Event[]): Waiting | undefined {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.message) {
    const reason = unscheduled(scheduled.message);
    if (reason === "room" && isExpectedNode(metadata?.annotations?.[annotation.gpus] ?? ""))
      return { for: "machine", message: scalingOf(events) ?? scheduled.message };
    return { for: reason, message: scheduled.message };
  }
  const { reason = "", message } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
  const container = containerReasons.find(([pattern]) => pattern.test(reason))?.[1];
  if (container) return { for: container, message: onNode(spec?.nodeName, `${reason}: ${message ?? ""}`) };
  const newest = newestOf(events);
  const waits = eventReasons.find(([pattern]) => pattern.test(newest?.reason ?? ""))?.[1];
  return waits && { for: waits, message: onNode(spec?.nodeName, `${newest?.reason}: ${newest?.message ?? ""}`) };
}

/** What the autoscaler said last; undefined before it has said anything. */
function scalingOf(events: readonly CoreV1Event[]): string | undefined {
  const said = newestOf(events.filter(({ reason }) => /^(\w*ScaleUp\w*|Nominated)$/.test(reason ?? "")));
  return said && `${said.reason}: ${said.message ?? ""}`;
}

const newestOf = (events: readonly CoreV1Event[]) =>
  events.toSorted((one, other) => timeOf(one) - timeOf(other)).at(-1);

/** The scheduler counts the nodes by reason, volumes that cannot be had among them. */
function unscheduled(message: string): WaitReason {
  if (/Insufficient|Too many pods/i.test(message)) return "room";
  return /volume|persistentvolumeclaim|storageclass/i.test(message) ? "volume" : "room";
}

const onNode = (node: string | undefined, text: string) => (node ? `on ${node}: ${text}` : text);

function timeOf({ lastTimestamp, eventTime, metadata }: CoreV1Event): number {
  return new Date(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0).getTime();
}
