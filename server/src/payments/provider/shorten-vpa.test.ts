import { expect, test } from "vitest";
import { shortenVpa } from "./shorten-vpa.ts";

test("a UPI address keeps two characters and its bank; a short or broken one never stays whole (G367)", () => {
  for (const [whole, short] of [
    ["adalovelace@okaxis", "ad***@okaxis"],
    ["9876543210@ybl", "98***@ybl"],
    ["ab@upi", "a***@upi"],
    ["a@upi", "***@upi"],
    ["a@b@upi", "a@***@upi"],
    ["nothing", "***"],
    ["", "***"],
  ] as const)
    expect(shortenVpa(whole)).toBe(short);
});
