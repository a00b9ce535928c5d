import { expect, onTestFinished, test } from "vitest";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { eachHost, forEachConcurrently, type Host } from "./each-host.ts";

/** Hosts `a` and `b`, whose passes are `work`; what was told, and the loop. */
function open(work: (host: Host) => Promise<number>) {
  const told: unknown[] = [];
  const drivers = new Map(["a", "b"].map((id) => [id, fakeDriver()]));
  onTestFinished(async () => {
    for (const driver of drivers.values()) await driver.close();
  });
  const loop = eachHost({ drivers, failed: (error) => told.push(error) }, 60_000, (host) => () => work(host));
  return { told, loop };
}

test("a host that hangs holds only itself, and a stop ends a long pass before its next item", async () => {
  const looked: string[] = [];
  const { promise: hung, resolve: release } = Promise.withResolvers<void>();
  const { loop } = open(async (host) => {
    const items = Array.from({ length: 20 }, (_, at) => `${host.id}${at}`);
    await forEachConcurrently(host, items, async (item) => {
      looked.push(item);
      if (host.id === "a") await hung;
    });
    return 60_000;
  });
  await expect.poll(() => looked.filter((item) => item.startsWith("b"))).toHaveLength(20);
  loop.nudge();
  await expect.poll(() => looked.filter((item) => item.startsWith("b"))).toHaveLength(40);
  const stopped = loop.stop();
  release();
  await stopped;
  expect(
    looked.filter((item) => item.startsWith("a")),
    "as many as are looked at once",
  ).toHaveLength(8);
});

test("what a pass throws is told when it changes, and again after one that went well", async () => {
  const words = ["away", "away", "full", "", "full"];
  let passes = 0;
  const { told, loop } = open(async ({ id }) => {
    if (id === "b") return 60_000;
    const word = words[passes++];
    if (word) throw new Error(word);
    return 60_000;
  });
  for (const at of words.keys()) {
    await expect.poll(() => passes, { interval: 1 }).toBe(at + 1);
    loop.nudge();
  }
  await loop.stop();
  expect(told.map(String)).toEqual(["Error: away", "Error: full", "Error: full"]);
});
