import { expect, test } from "vitest";
import { quantityOf } from "./quantity-of.ts";

test.each([
  ["16323952Ki", 16_323_952 * 1024],
  ["250m", 0.25],
  ["8", 8],
  ["1.5Gi", 1.5 * 2 ** 30],
  ["50G", 50e9],
  ["2e3", 2000],
  [4, 4],
  ["many", 0],
  ["", 0],
  [undefined, 0],
])("%s is %d", (quantity, expected) => {
  expect(quantityOf(quantity)).toBe(expected);
});
