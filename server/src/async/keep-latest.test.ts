import { expect, test } from "vitest";
import { keepLatest } from "./keep-latest.ts";

test("the value of before is returned at once while the next one is read, and while reading fails", async () => {
  let read = async () => 1;
  const latest = await keepLatest(() => read(), 0);
  const { promise, resolve } = Promise.withResolvers<number>();
  read = () => promise;
  expect(latest()).toBe(1);
  resolve(2);
  await expect.poll(latest).toBe(2);
  read = async () => {
    throw new Error("away");
  };
  for (let asked = 0; asked < 3; asked++) expect(latest()).toBe(2);
  read = async () => 3;
  await expect.poll(latest).toBe(3);
});

test("it is not read again before its time", async () => {
  let reads = 0;
  const latest = await keepLatest(async () => ++reads, 3_600_000);
  latest();
  await expect.poll(latest).toBe(2);
  expect([latest(), reads]).toEqual([2, 2]);
});
