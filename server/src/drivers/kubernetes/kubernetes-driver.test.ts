import { expect, vi } from "vitest";
import { driverSuite } from "../testing/driver.suite.ts";
import { openKubernetesMachine, whyNoKubernetes } from "../testing/kubernetes-machine.ts";

// Of many pods at once on a small machine, one start may take what ten take elsewhere.
vi.setConfig({ testTimeout: 120_000 });

const absent = await whyNoKubernetes();

driverSuite("kubernetes driver", () => openKubernetesMachine(), absent, {
  pause: false,
  warm: "running",
  gpu: expect.stringMatching(/^(plugin|none)$/),
  gpus: expect.any(Array),
});
