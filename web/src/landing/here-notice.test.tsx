import { expect, test } from "vitest";
import { missingHere } from "./here-notice.tsx";

test("the landing page says what this installation does not have, and nothing where it has all (G307)", () => {
  const types = (state: "ready" | "unavailable") =>
    ["jupyter", "pytorch", "tensorflow"].map((type) => ({
      ...{ type, percent: null, message: "" },
      state: type === "jupyter" ? ("ready" as const) : state,
    }));
  expect(missingHere({ kind: "gpu", types: types("ready") })).toBe("");
  expect(missingHere({ kind: "gpu", types: types("unavailable") })).toBe(
    "PyTorch and TensorFlow are not offered here yet.",
  );
  expect(missingHere({ kind: "cpu", types: types("ready") })).toBe(
    "This installation runs on CPUs: you rent slots of a CPU, without a GPU.",
  );
});
