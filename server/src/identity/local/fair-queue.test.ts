import { expect, test } from "vitest";
import { createFairQueue } from "./fair-queue.ts";

/** Two slots and two queues of five; `end` finishes the oldest running task. */
function setup() {
  const enqueue = createFairQueue({ concurrency: 2, maxQueued: 5 }, () => new Error("full"));
  const running: { name: string; end: () => void }[] = [];
  const [started, refused]: [string[], string[]] = [[], []];
  const add = (network: string, name: string, familiar = false) =>
    void enqueue({ network, familiar }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push({ name, end: resolve });
      started.push(name);
      return promise;
    }).catch(() => refused.push(name));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    running.shift()?.end();
    await settled();
  };
  return { add, started, refused, running, end, settled };
}

test("networks are served round-robin, however many tasks one of them has", async () => {
  const { add, started, end, settled } = setup();
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) add("a", name);
  add("b", "b1");
  add("c", "c1");
  await settled();
  expect(started).toEqual(["a1", "a2"]);
  for (let n = 0; n < 5; n++) await end();
  expect(started).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "a5"]);
});

test("a full queue refuses the newest task of the largest network; on a tie the incoming one", async () => {
  const { add, refused, settled } = setup();
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6", "a7"]) add("a", name);
  add("b", "b1");
  await settled();
  expect(refused).toEqual(["a7"]);
  for (const network of ["c", "d", "e", "f", "g"]) add(network, network);
  await settled();
  expect(refused, "one task of each network is left, so the last two are refused").toEqual([
    "a7",
    "a6",
    "a5",
    "a4",
    "f",
    "g",
  ]);
});

test("unknown clients do not starve familiar ones: one slot prefers these", async () => {
  const { add, started, refused, end, settled } = setup();
  for (let n = 0; n < 400; n++) add(`outsider ${n}`, "unknown");
  add("home", "owner", true);
  await settled();
  await end();
  expect(started).toEqual(["unknown", "unknown", "owner"]);
  expect(refused).not.toContain("owner");
  for (let n = 0; n < 5; n++) add(`home ${n}`, "another owner", true);
  await settled();
  await end();
  await end();
  await end();
  expect(started.slice(3), "nor do familiar clients starve unknown ones").toContain("unknown");
});
