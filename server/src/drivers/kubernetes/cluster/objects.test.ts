import { expect, test } from "vitest";
import { objectName } from "./objects.ts";

test("names that Kubernetes takes stay readable, others are replaced by a hash", () => {
  expect(objectName("env", "3f2a-1")).toBe("env-3f2a-1");
  for (const name of ["Upper", "a.b_c", "ends-", "x".repeat(100)])
    expect(objectName("home", name)).toMatch(/^home-[0-9a-f]{40}$/);
  expect(objectName("home", "Upper")).not.toBe(objectName("home", "UPPER"));
});
