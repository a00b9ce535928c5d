import type { V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { annotation } from "../cluster/objects.ts";
import { waitOfPod } from "./wait-of-pod.ts";

/** What a pod waits for whose scheduler says this. */
const unscheduled = (message: string, reason = "Unschedulable") =>
  waitOfPod({ status: { conditions: [{ type: "PodScheduled", status: "False", reason, message }] } }, []);

/** What a pod on the node `a` waits for whose container is in this state, after these events, oldest first. */
function scheduled(reason: string, ...events: readonly string[]) {
  const state = { waiting: { reason, message: "why" } };
  const lab = { name: "lab", image: "", imageID: "", ready: false, restartCount: 0, state };
  const pod: V1Pod = { spec: { containers: [], nodeName: "a" }, status: { containerStatuses: [lab] } };
  const listed = events.map((event, minute) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, minute));
    return { metadata: {}, involvedObject: {}, reason: event, message: "because", lastTimestamp: at };
  });
  // The API does not sort them.
  return waitOfPod(pod, listed.toReversed());
}

test.each([
  ["0/2 nodes are available: 2 Insufficient memory. preemption: 0/2 nodes are available", "room"],
  [
    "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't match Pod's node affinity/selector.",
    "room",
  ],
  ["0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict.", "room"],
  ["0/1 nodes are available: 1 Too many pods.", "room"],
  ["0/2 nodes are available: 2 node(s) had untolerated taint {pool: other}.", "room"],
  ["0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found", "volume"],
  ['running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "home-1"', "volume"],
  ['persistentvolumeclaim "home-1" not found', "volume"],
])("a pod without a node because of %s waits for %s", (message, expected) => {
  expect(unscheduled(message)).toEqual({ for: expected, message });
});

test.each([
  ["ErrImagePull", "image"],
  ["ImagePullBackOff", "image"],
  ["InvalidImageName", "image"],
  ["ErrImageNeverPull", "image"],
  ["CreateContainerConfigError", "host"],
  ["RunContainerError", "host"],
])("a container that waits with %s waits for %s, whatever the events say", (reason, expected) => {
  expect(scheduled(reason, "Pulled")).toEqual({ for: expected, message: `on a: ${reason}: why` });
});

test.each([
  [["Scheduled"], undefined],
  [["Scheduled", "Pulling"], "image"],
  [["Scheduled", "Pulling", "Pulled"], undefined],
  [["Scheduled", "FailedMount"], "volume"],
  [["FailedAttachVolume"], "volume"],
  [["WaitForFirstConsumer", "ExternalProvisioning"], "volume"],
  [["ExternalProvisioning", "ProvisioningFailed"], "volume"],
  [["ExternalProvisioning", "ProvisioningSucceeded"], undefined],
  [["Scheduled", "FailedCreatePodSandBox"], "host"],
])("a pod that is made waits after the events %s for %s", (events, expected) => {
  expect(scheduled("ContainerCreating", ...events)?.for).toBe(expected);
  expect(waitOfPod({}, [])).toBeUndefined();
});

test("G201 a pod that was leased a node that is not there yet waits for a machine, in the words of the autoscaler", () => {
  const message = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.";
  const metadata = { annotations: { [annotation.gpus]: "new:1-gpu-1" } };
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
  const pod: V1Pod = { metadata, status: { conditions } };
  const said = (reason: string, text: string, minute: number) => {
    return {
      metadata: {},
      involvedObject: {},
      reason,
      message: text,
      eventTime: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    };
  };
  const scheduling = said("FailedScheduling", message, 9);
  expect(waitOfPod(pod, [scheduling])).toEqual({ for: "machine", message });
  const events = [
    said("NotTriggerScaleUp", "max node group size reached", 3),
    said("TriggeredScaleUp", "1->2", 1),
    scheduling,
  ];
  expect(waitOfPod(pod, events)).toEqual({ for: "machine", message: "NotTriggerScaleUp: max node group size reached" });
  expect(waitOfPod(pod, events.slice(1))?.message).toBe("TriggeredScaleUp: 1->2");
});
