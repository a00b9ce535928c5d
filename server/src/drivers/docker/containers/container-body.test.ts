import { expect, test } from "vitest";
import { testSpec } from "../../testing/drive-run.ts";
import { type ContainerContext, containerBody } from "./container-body.ts";

const place: ContainerContext = {
  install: "i",
  image: "sha256:1",
  home: "/homes/h",
  network: "berth-i",
  publishAt: "127.0.0.1",
  cpus: 8,
  gpu: "cdi",
  openFiles: undefined,
};

test("leased GPUs are requested by UUID: as CDI devices, or by NVIDIA's own runtime without CDI", () => {
  const wanted = testSpec({ gpus: ["GPU-aa11", "GPU-bb22"] });
  expect(containerBody(wanted, place).HostConfig).toMatchObject({
    DeviceRequests: [{ Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=GPU-aa11", "nvidia.com/gpu=GPU-bb22"] }],
  });
  expect(containerBody(wanted, { ...place, gpu: "nvidia" }).HostConfig).toMatchObject({
    DeviceRequests: [
      { Driver: "nvidia", DeviceIDs: ["GPU-aa11", "GPU-bb22"], Capabilities: [["gpu", "compute", "utility"]] },
    ],
  });
  // The runtime would otherwise read the variable and hide them.
  expect(containerBody(wanted, place).Env.join()).not.toContain("NVIDIA_VISIBLE_DEVICES");
});

test("a CPU slot is no device", () => {
  const body = containerBody(testSpec({ gpus: ["local-slot-3"] }), place);
  expect(body.HostConfig).not.toHaveProperty("DeviceRequests");
  expect(body.Env).toContain("NVIDIA_VISIBLE_DEVICES=void");
});

test("a run without settings has the variable for it, and the kernel ends every run before the server", () => {
  const [usual, bare] = [testSpec(), testSpec({ withoutSettings: true })].map((wanted) => containerBody(wanted, place));
  expect(usual?.Env.join()).not.toContain("WITHOUT_SETTINGS");
  expect(bare?.Env).toContain("WITHOUT_SETTINGS=1");
  expect(usual?.HostConfig).toMatchObject({ OomScoreAdj: 500 });
});
