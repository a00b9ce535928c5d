import { expect, test } from "vitest";
import { isChunkFailure } from "./is-chunk-failure.ts";

test.each([
  ["Failed to fetch dynamically imported module: http://x/a.js", true],
  ["error loading dynamically imported module", true],
  ["Importing a module script failed.", true],
  ["Unable to preload CSS for /a.css", true],
  ["x is not a function", false],
])("%s", (message, expected) => {
  expect(isChunkFailure(new TypeError(message))).toBe(expected);
});
