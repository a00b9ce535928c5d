import { expect, test } from "vitest";
import { jsonOf, tableOf } from "./print-rows.ts";

test("a table aligns text to the left and numbers to the right; untrusted text stays on its line", () => {
  const rows = [
    { id: "a", count: 5, at: new Date("2026-11-23T01:02:03Z"), text: "one\u001b[2J\ntwo" },
    { id: "long-id", count: 1200, at: null, text: "" },
  ];
  type Row = (typeof rows)[number];
  const columns = {
    id: ({ id }: Row) => id,
    count: ({ count }: Row) => count,
    at: ({ at }: Row) => at,
    text: ({ text }: Row) => text,
  };
  expect(tableOf(rows, columns).split("\n")).toEqual([
    "id       count  at                 text",
    "a            5  2026-11-23 01:02Z  one [2J two",
    "long-id   1200  -",
  ]);
});

test("JSON has no letter that a terminal obeys, and is the same JSON", () => {
  const value = { text: 'one\u001b[2J\u009b2J \u202etwo\u2066 \u{e0041} "three" \\ ü' };
  expect(jsonOf(value)).toMatch(/^(?:\n|[^\p{Cc}\p{Cf}])+$/u);
  expect(JSON.parse(jsonOf(value))).toEqual(value);
});
