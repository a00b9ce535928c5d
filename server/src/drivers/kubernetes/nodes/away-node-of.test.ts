import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { awayNodeOf } from "./away-node-of.ts";

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

function nodeWith(status: string, { taint = "", heartbeatAgo = 3 } = {}): V1Node {
  const taints = taint ? [{ key: `node.kubernetes.io/${taint}`, effect: "NoExecute" }] : [];
  const times = { lastHeartbeatTime: minutesAgo(heartbeatAgo), lastTransitionTime: minutesAgo(2) };
  return { metadata: { name: "a" }, spec: { taints }, status: { conditions: [{ type: "Ready", status, ...times }] } };
}

function podOn(node: string | undefined, { ready = "False", phase = "Running" } = {}): V1Pod {
  const conditions = [{ type: "Ready", status: ready }];
  return { spec: { containers: [], ...(node && { nodeName: node }) }, status: { phase, conditions } };
}

/** What is found for a pod on node `a`, and how often the nodes were listed. */
async function look(nodes: readonly V1Node[], pod = podOn("a"), moveAfter?: number, now = Date.now) {
  let lists = 0;
  const list = async () => {
    lists += 1;
    return nodes;
  };
  return { away: await awayNodeOf({ nodes: list, moveAfter, now }, pod, new AbortController().signal), lists };
}

test("a pod that is ready, over or without a node costs no look at the nodes", async () => {
  for (const pod of [podOn("a", { ready: "True" }), podOn("a", { phase: "Failed" }), podOn(undefined)])
    expect(await look([], pod)).toEqual({ away: undefined, lists: 0 });
});

test("a node that gives signs is there, also one that says that it is not ready", async () => {
  expect((await look([nodeWith("True")])).away).toBeUndefined();
  expect((await look([nodeWith("False")])).away).toBeUndefined();
});

test("a node without signs is away since its last one, and off only by the cluster's word or after the operator's time", async () => {
  const lost = nodeWith("Unknown");
  expect((await look([lost])).away).toEqual({ name: "a", since: minutesAgoOf(lost), isOff: false });
  expect((await look([nodeWith("Unknown", { taint: "unreachable" })])).away).toMatchObject({ isOff: false });
  expect((await look([nodeWith("Unknown", { taint: "out-of-service" })])).away).toMatchObject({ isOff: true });
  expect((await look([lost], podOn("a"), 110)).away).toMatchObject({ isOff: true });
  expect((await look([lost], podOn("a"), 600)).away).toMatchObject({ isOff: false });
});

test("the operator's time is over by the cluster's clock, whatever this machine's says", async () => {
  const lost = nodeWith("Unknown");
  const isOff = async (hours: number) =>
    (await look([lost], podOn("a"), 600, () => Date.now() + hours * 3_600_000)).away?.isOff;
  expect([await isOff(-1), await isOff(1)]).toEqual([false, true]);
});

const minutesAgoOf = ({ status }: V1Node) => status?.conditions?.[0]?.lastHeartbeatTime;

test("the last sign is by the node's clock, which may be wrong: it is at most five minutes before the loss was noticed", async () => {
  const minutes = async (heartbeatAgo: number) => {
    const { away } = await look([nodeWith("Unknown", { heartbeatAgo })]);
    return Math.round((Date.now() - (away?.since?.getTime() ?? 0)) / 60_000);
  };
  expect(await minutes(60)).toBe(7);
  expect(await minutes(-60)).toBe(2);
});

test("a node that has just joined is not taken for one that is gone", async () => {
  const lists = [[], [nodeWith("True")], []];
  const nodes = async (_: AbortSignal, now?: "now") => lists[now ? 1 : 0] ?? [];
  const signal = new AbortController().signal;
  expect(await awayNodeOf({ nodes, moveAfter: undefined, now: Date.now }, podOn("a"), signal)).toBeUndefined();
  expect((await look([])).away).toEqual({ name: "a", since: undefined, isOff: true });
});
