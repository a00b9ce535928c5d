import assert from "node:assert/strict";
import { movableVolumes } from "../server/src/drivers/testing/movable-volumes.ts";
import { type NodeCommands, type NodeOptions, nodeCommandsOf } from "./nodes/node-commands.ts";
import { openNodeLossFixture, type Rented } from "./nodes/node-loss-fixture.ts";
import { writeProof } from "./proof-page.ts";

/** A run of a GPU reserves 16 GiB of its node. */
const rentals = 1;
/** The promise: so soon after the loss every owner is told. */
const noticeWithinSeconds = 60;

/**
 * A node of the cluster of TEST_KUBECONFIG is ended while environments run on it: with volumes bound to it, with volumes that
 * every node can mount (G181), and with an owner who does not wait for the files (G202). The nodes run on this machine;
 * nobody else may use the cluster.
 */
export async function proveNodeLoss(options: NodeOptions): Promise<void> {
  const commands = nodeCommandsOf(options);
  if (!commands) throw new Error("--stop and --start name the commands that end the node and bring it back");
  const bound = await lose(commands, undefined);
  await using stack = new AsyncDisposableStack();
  const moved = await lose(commands, await movableVolumes(stack, rentals));
  const fresh = await loseAndStartFresh(commands);
  const text = `An environment with a GPU on a node that is ended suddenly. A volume bound to the node: its owner told after ${bound.noticed} s, running again with the same file ${bound.back} s after the node came back. A volume that any node can mount: told after ${moved.noticed} s, running on another node with the same file ${moved.back} s after the cluster was told that the node is off, in one pod, also when the node came back. A volume bound to the node, and an owner who presses the fresh start: told after ${fresh.noticed} s, running on another node with an empty home ${fresh.ran} s after the press; when the node is back the former run ends, and the former file is downloaded ${fresh.back} s after that. In all: no second of the gap was counted, no GPU leased twice.`;
  writeProof("node-loss", `\`npm run prove -- node-loss --node ${options.node} --stop ... --start ...\`: ${text}`);
  console.log(text);
}

interface Seconds {
  readonly noticed: number;
  readonly back: number;
}

async function lose({ node, stop, start }: NodeCommands, storageClass: string | undefined): Promise<Seconds> {
  await using fixture = await openNodeLossFixture(node, storageClass);
  const rented = await fixture.rent(rentals);
  const end = await Promise.all(rented.map(fixture.endOf));
  const lostAt = Date.now();
  stop();
  let isBack = false;
  try {
    await Promise.all(rented.map((each) => fixture.untilLost(each, (noticeWithinSeconds + 30) * 1000)));
    const noticed = secondsSince(lostAt);
    assert.ok(noticed <= noticeWithinSeconds, `owners were told after ${noticed} s`);
    const isMovable = storageClass !== undefined;
    if (isMovable) await fixture.say("off");
    else start();
    isBack = !isMovable;
    const from = Date.now();
    await Promise.all(rented.map((each) => fixture.untilRuns(each)));
    const back = secondsSince(from);
    await check(fixture, rented, { lostAt, end, node, isMovable });
    if (isMovable) {
      start();
      isBack = true;
      await fixture.say("on");
      await fixture.untilReady();
      await check(fixture, rented, { lostAt, end, node, isMovable });
    }
    return { noticed, back };
  } finally {
    if (!isBack) start();
    await fixture.say("on");
  }
}

interface FreshSeconds extends Seconds {
  readonly ran: number;
}

/** The owner starts on another node with an empty home while the node is away (G202); then it is back (G203). */
async function loseAndStartFresh({ node, stop, start }: NodeCommands): Promise<FreshSeconds> {
  await using fixture = await openNodeLossFixture(node, undefined);
  const [rented] = await fixture.rent(1);
  assert.ok(rented);
  const end = await fixture.endOf(rented);
  const lostAt = Date.now();
  stop();
  let isBack = false;
  const checkFresh = async () => {
    const left = await fixture.leftAfterStart(rented);
    assert.ok(left >= end - lostAt, `${(end - lostAt - left) / 1000} s of the gap were counted`);
    assert.ok(left <= hourMs, `it has ${left / 1000} s of an hour left`);
    assert.deepEqual(await fixture.files(rented), []);
    assert.deepEqual(await fixture.overused(), []);
  };
  try {
    await fixture.untilLost(rented, (noticeWithinSeconds + 30) * 1000);
    const noticed = secondsSince(lostAt);
    assert.ok(noticed <= noticeWithinSeconds, `the owner was told after ${noticed} s`);
    const pressedAt = Date.now();
    await fixture.startFresh(rented);
    await fixture.untilRuns(rented);
    const ran = secondsSince(pressedAt);
    const [former, current, ...more] = await fixture.podsOf(rented);
    assert.deepEqual([former, more], [node, []]);
    assert.notEqual(current, node);
    await checkFresh();
    const from = Date.now();
    start();
    isBack = true;
    assert.equal(await fixture.untilFormerFile(rented), rented.text);
    const back = secondsSince(from);
    assert.deepEqual(await fixture.podsOf(rented), [current]);
    await checkFresh();
    return { noticed, ran, back };
  } finally {
    if (!isBack) start();
  }
}

const hourMs = 3_600_000;
const secondsSince = (at: number) => Math.ceil((Date.now() - at) / 1000);

interface Before {
  readonly lostAt: number;
  readonly end: readonly number[];
  readonly node: string;
  readonly isMovable: boolean;
}

async function check(
  fixture: Awaited<ReturnType<typeof openNodeLossFixture>>,
  rented: readonly Rented[],
  { lostAt, end, node, isMovable }: Before,
): Promise<void> {
  for (const [index, each] of rented.entries()) {
    const left = await fixture.leftAfterStart(each);
    const before = (end[index] ?? 0) - lostAt;
    assert.ok(left >= before, `${(before - left) / 1000} s of the gap were counted`);
    assert.equal(await fixture.read(each), each.text);
    const pods = await fixture.podsOf(each);
    assert.equal(pods.length, 1);
    assert.equal(pods[0] !== node, isMovable, `it runs on ${pods[0]}`);
  }
  assert.deepEqual(await fixture.overused(), []);
}
