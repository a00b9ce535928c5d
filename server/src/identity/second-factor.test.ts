import { expect, test } from "vitest";
import { factorStep, newRecoveryCodes, recoveryHash } from "./second-factor.ts";

/** "12345678901234567890" of RFC 6238, appendix B, whose codes have eight digits: the last six are ours. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
])("RFC 6238: at %i s the code is %s, and 30 s before and after, and no further", (second, code) => {
  const step = Math.floor(second / 30);
  for (const off of [-1, 0, 1]) expect(factorStep(secret, code, (second + off * 30) * 1000)).toBe(step);
  for (const off of [-2, 2]) expect(factorStep(secret, code, (second + off * 30) * 1000)).toBeUndefined();
  expect(factorStep(secret, ` ${code.slice(0, 3)} ${code.slice(3)} `, second * 1000)).toBe(step);
});

test.each(["", "28708", "2870822", "28708a", "२८७०८२"])("%j is no code", (code) => {
  expect(factorStep(secret, code, 59_000)).toBeUndefined();
});

test("a recovery code is the same with capitals and spaces, and without dashes", () => {
  const codes = newRecoveryCodes();
  expect([new Set(codes).size, codes[0]]).toEqual([10, expect.stringMatching(/^(\w{4}-){2}\w{4}$/)]);
  const [code = ""] = codes;
  for (const typed of [` ${code.toUpperCase()} `, code.replaceAll("-", ""), code.replaceAll("-", " ")])
    expect(recoveryHash(typed)).toEqual(recoveryHash(code));
  expect(recoveryHash(code.slice(1))).not.toEqual(recoveryHash(code));
});
