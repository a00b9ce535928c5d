import { expect, test } from "vitest";
import { changeOf } from "./change-of.ts";

test.each([
  ['{"kind":"environment","id":"a1"}', { kind: "environment", id: "a1" }],
  ['{"kind":"notification","id":null}', { kind: "notification", id: null }],
  ['{"kind":"weather","id":"x"}', undefined],
  ["{broken", undefined],
  ["null", undefined],
  ["", undefined],
])("%s parses as %s", (data, change) => {
  expect(changeOf(data)).toEqual(change);
});
