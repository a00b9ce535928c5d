import { expect, test } from "vitest";
import { minorOf } from "./minor-of.ts";

test("a typed amount is read to the hundredth, and nothing else is", () => {
  const read = ["2.40", "2,4", " 2 ", "0.07", "19.99", "1105864"].map(minorOf);
  expect(read).toEqual([240, 240, 200, 7, 1999, 110_586_400]);
  for (const wrong of ["", ".", "2.", "2.405", "-1", "1e3", "$2", "1 000", "2.4.0", "12345678901"])
    expect(minorOf(wrong), wrong).toBeUndefined();
});
