import { expect, test } from "vitest";
import { isGstin } from "./gstin.ts";

test.each([
  ["27AAPFU0939F1ZV", true],
  ["29AAGCB7383J1Z4", true],
  ["27AAPFU0939F1ZW", false],
  ["27AAPFU0993F1ZV", false],
  ["27aapfu0939f1zv", false],
  ["27AAPFU0939F1Z", false],
  ["25AAPFU0939F1ZZ", false],
  ["27AAPFU0939F1ZVX", false],
  ["", false],
])("%s: %s", (text, holds) => {
  expect(isGstin(text)).toBe(holds);
});
