import { expect, test } from "vitest";
import { meaningful } from "./meaningful.ts";

test("fewer than twenty launches have no figures (G310)", () => {
  expect(meaningful(null)).toBeUndefined();
  expect(meaningful(undefined)).toBeUndefined();
  expect(meaningful({ count: 19 })).toBeUndefined();
  expect(meaningful({ count: 20 })).toEqual({ count: 20 });
});
