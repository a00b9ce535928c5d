import { expect, test } from "vitest";
import { openFairQueue } from "./fair-queue.ts";

/** Two places and five waiting in each line; `end` lets the work that has run longest come to its end. */
function setup() {
  const inTurn = openFairQueue({ atOnce: 2, waiting: 5 }, () => new Error("full"));
  const running: { name: string; end: () => void }[] = [];
  const [began, refused]: [string[], string[]] = [[], []];
  const come = (network: string, name: string, familiar = false) =>
    void inTurn({ network, familiar }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push({ name, end: resolve });
      began.push(name);
      return promise;
    }).catch(() => refused.push(name));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    running.shift()?.end();
    await settled();
  };
  return { come, began, refused, running, end, settled };
}

test("networks take turns, however much one of them brings", async () => {
  const { come, began, end, settled } = setup();
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) come("a", name);
  come("b", "b1");
  come("c", "c1");
  await settled();
  expect(began).toEqual(["a1", "a2"]);
  for (let n = 0; n < 5; n++) await end();
  expect(began).toEqual(["a1", "a2", "a3", "b1", "c1", "a4", "a5"]);
});

test("a full line refuses the newest of whoever has the most waiting; among equals the one that comes", async () => {
  const { come, refused, settled } = setup();
  for (const name of ["a1", "a2", "a3", "a4", "a5", "a6", "a7"]) come("a", name);
  come("b", "b1");
  await settled();
  expect(refused).toEqual(["a7"]);
  for (const network of ["c", "d", "e", "f", "g"]) come(network, network);
  await settled();
  expect(refused, "one of each is left, so the last two found no place").toEqual(["a7", "a6", "a5", "a4", "f", "g"]);
});

test("strangers keep nobody out whom an account knows: one of the places is theirs first", async () => {
  const { come, began, refused, end, settled } = setup();
  for (let n = 0; n < 400; n++) come(`outsider ${n}`, "stranger");
  come("home", "owner", true);
  await settled();
  await end();
  expect(began).toEqual(["stranger", "stranger", "owner"]);
  expect(refused).not.toContain("owner");
  for (let n = 0; n < 5; n++) come(`home ${n}`, "another owner", true);
  await settled();
  await end();
  await end();
  await end();
  expect(began.slice(3), "nor do they keep out strangers").toContain("stranger");
});
