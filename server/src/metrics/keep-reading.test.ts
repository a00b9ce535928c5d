import { expect, test } from "vitest";
import { keepReading } from "./keep-reading.ts";

/** Reads that the test ends itself. */
function setup(isOldUsable: boolean, keepMs = 0) {
  const reads: PromiseWithResolvers<string>[] = [];
  const read = keepReading({
    read: () => {
      const next = Promise.withResolvers<string>();
      reads.push(next);
      return next.promise;
    },
    keepMs: () => keepMs,
    waitMs: 1,
    isOldUsable,
  });
  return {
    reads,
    read,
    /** Reads that were begun, this one too. */
    begun: async () => {
      await read();
      return reads.length;
    },
  };
}

test("a slow read is begun once, and those who waited in vain get nothing, or the value before", async () => {
  for (const isOldUsable of [false, true]) {
    const { reads, read, begun } = setup(isOldUsable);
    expect([await read(), await read()]).toEqual([undefined, undefined]);
    expect(reads).toHaveLength(1);
    reads[0]?.resolve("one");
    await expect.poll(read, { interval: 1 }).toBe("one");
    await expect.poll(begun, { interval: 1 }).toBe(2);
    expect(await read()).toBe(isOldUsable ? "one" : undefined);
  }
});

test("a failure is no error of the caller, and the next read begins again", async () => {
  const { reads, read, begun } = setup(false);
  await read();
  reads[0]?.reject(new Error("gone"));
  await expect.poll(begun, { interval: 1 }).toBe(2);
  reads[1]?.resolve("back");
  await expect.poll(read, { interval: 1 }).toBe("back");
});

test("a value is kept as long as asked", async () => {
  const { reads, read } = setup(false, 60_000);
  const first = read();
  reads[0]?.resolve("kept");
  expect([await first, await read(), await read()]).toEqual(["kept", "kept", "kept"]);
  expect(reads).toHaveLength(1);
});
