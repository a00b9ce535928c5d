import { expect, test } from "vitest";
import { createRun } from "../target/run.ts";
import { createOpenExchanges, type OpenExchange } from "./open-exchanges.ts";

const run = createRun({ host: "127.0.0.1", port: 1 }, "token");

function one(environmentId: string, ended: OpenExchange[]): OpenExchange {
  const own: OpenExchange = {
    subdomain: environmentId,
    environmentId,
    address: "203.0.113.7",
    run,
    grantId: "g",
    secret: undefined,
    destroy: () => void ended.push(own),
    index: -1,
  };
  return own;
}

test("exchanges that end in any order are counted and destroyed exactly once", () => {
  const ended: OpenExchange[] = [];
  const open = createOpenExchanges({ perEnvironment: 2, perAddress: 4 });
  const all = ["a", "a", "b", "c"].map((id) => one(id, ended));
  for (const each of all) open.add(each);
  expect([open.limitOf("a", "203.0.113.9"), open.limitOf("b", "203.0.113.7")]).toEqual(["environment", "address"]);
  const [first, second, third, last] = all as [OpenExchange, OpenExchange, OpenExchange, OpenExchange];
  for (const gone of [second, second, last]) open.remove(gone);
  expect([open.size, open.limitOf("a", "203.0.113.7")]).toEqual([2, undefined]);
  open.add(second);
  open.remove(first);
  open.endUnless(() => false);
  expect(new Set(ended)).toEqual(new Set([third, second]));
  for (const each of [third, second, first]) open.remove(each);
  expect([open.size, open.limitOf("a", "203.0.113.7"), open.limitOf("b", "203.0.113.7")]).toEqual([
    0,
    undefined,
    undefined,
  ]);
});
