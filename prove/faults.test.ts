import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allMutants } from "./faults.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

test("every mutant's text occurs exactly once, and its tests exist", () => {
  const found = allMutants().map(({ number, file, text, instead, tests }) => {
    const times = readFileSync(`${root}${file}`, "utf8").split(text).length - 1;
    return { number, times, changes: text !== instead, missing: tests.filter((path) => !existsSync(`${root}${path}`)) };
  });
  expect(found).toEqual(found.map(({ number }) => ({ number, times: 1, changes: true, missing: [] })));
});

test("there are at least 66 mutants", () => {
  expect(allMutants().length).toBeGreaterThanOrEqual(66);
});
