import { expect, test } from "vitest";
import { deviceName } from "./example-order.ts";

test("the drawn notebook names a GPU as PyTorch does: only gaming models are GeForce", () => {
  expect(["RTX 4070", "GTX 1660 Ti", "A100", "H100 80GB HBM3", "RTX 6000 Ada", "RTX A5000"].map(deviceName)).toEqual([
    "NVIDIA GeForce RTX 4070",
    "NVIDIA GeForce GTX 1660 Ti",
    "NVIDIA A100",
    "NVIDIA H100 80GB HBM3",
    "NVIDIA RTX 6000 Ada",
    "NVIDIA RTX A5000",
  ]);
});
