import { expect, test } from "vitest";
import { returnPath } from "./return-path.ts";

test.each([
  ["/environments?status=active", "/environments?status=active"],
  ["/", "/"],
  ["//evil.example", "/dashboard"],
  ["/\\evil.example", "/dashboard"],
  ["https://evil.example", "/dashboard"],
  ["javascript:alert(1)", "/dashboard"],
  ["", "/dashboard"],
  [null, "/dashboard"],
])("coming from %s leads to %s", (from, path) => {
  expect(returnPath(from)).toBe(path);
});
