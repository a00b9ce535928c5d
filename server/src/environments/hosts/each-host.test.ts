import { expect, onTestFinished, test } from "vitest";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { eachHost, forEachConcurrently, type Host } from "./each-host.ts";

/** Hosts `a` and `b`, whose passes are `work`; what was logged, and the loop. */
function open(work: (host: Host) => Promise<number>) {
  const { log, lines } = recordLog();
  const drivers = new Map(["a", "b"].map((id) => [id, fakeDriver()]));
  onTestFinished(async () => {
    for (const driver of drivers.values()) await driver.close();
  });
  const loop = eachHost("a-loop", { drivers, log }, 60_000, (host) => () => work(host));
  return { lines, loop };
}

test("a host that hangs delays only itself, and a stop ends a long pass before its next item", async () => {
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
  loop.trigger();
  await expect.poll(() => looked.filter((item) => item.startsWith("b"))).toHaveLength(40);
  const stopped = loop.stop();
  release();
  await stopped;
  expect(
    looked.filter((item) => item.startsWith("a")),
    "as many as are looked at once",
  ).toHaveLength(8);
});

test("an error of a pass is logged with its host, and the next pass comes", async () => {
  let passes = 0;
  const { lines, loop } = open(async ({ id }) => {
    if (id === "b") return 60_000;
    passes += 1;
    throw new Error("away");
  });
  await expect.poll(() => lines.length).toBe(1);
  loop.trigger();
  await expect.poll(() => lines.length).toBe(2);
  await loop.stop();
  expect(passes).toBe(2);
  expect(lines).toMatchObject(
    [1, 2].map(() => ({ event: "loop.failed", loop: "a-loop", hostId: "a", err: { message: "away" } })),
  );
});
