import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { gpuLeftovers, gpusListed, gpuUsage, hostGpus } from "./nvidia-smi.ts";

/** A program of that name, first on the PATH: what it prints is what the real one does (driver 550). */
function install(script: string): void {
  const folder = mkdtempSync(join(tmpdir(), "berth-smi-"));
  const path = join(folder, "nvidia-smi");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
}

const two = `case "$1" in
*name*) echo "GPU-aa11, NVIDIA GeForce RTX 4070, 12282"; echo "GPU-bb22, NVIDIA H100 80GB HBM3, 81559";;
*) echo "GPU-aa11, 37, 2048, 96.51"; echo "GPU-bb22, [N/A], 0, [N/A]";;
esac`;

test("GPUs by UUID, with the model's own name and memory", async () => {
  install(two);
  expect(await hostGpus()).toEqual([
    { id: "GPU-aa11", model: "RTX 4070", memoryMb: 12_282 },
    { id: "GPU-bb22", model: "H100 80GB HBM3", memoryMb: 81_559 },
  ]);
});

test("usage is of the run's own GPUs only; a figure that a model lacks is 0", async () => {
  install(two);
  expect(await gpuUsage(["GPU-aa11"])).toEqual([{ id: "GPU-aa11", usePercent: 37, memoryMb: 2048, watts: 96.51 }]);
  expect(await gpuUsage(["GPU-bb22"])).toEqual([{ id: "GPU-bb22", usePercent: 0, memoryMb: 0, watts: 0 }]);
});

test("without NVIDIA's driver there are no GPUs; a broken driver is an error, not zero GPUs", async () => {
  vi.stubEnv("PATH", "/nowhere");
  expect(await hostGpus()).toEqual([]);
  install("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver' >&2; exit 9");
  await expect(hostGpus()).rejects.toMatchObject({ code: "unavailable" });
});

test("an nvidia-smi without permission counts as none: PATH may have folders that the user cannot read", async () => {
  install("echo never");
  const [folder = ""] = String(process.env["PATH"]).split(":");
  chmodSync(join(folder, "nvidia-smi"), 0o644);
  expect(await hostGpus()).toEqual([]);
});

test("a run on a CPU slot queries nothing", async () => {
  install("exit 9");
  expect(await gpuUsage(["cpu-1"])).toEqual([]);
});

/** Prints these lines for a question about GPUs, and those for one about programs on them. */
const smi = (gpus: readonly string[], programs: readonly string[] = []) =>
  install(`case "$1" in
--query-compute-apps=*) ${programs.map((line) => `echo "${line}"; `).join("")}true;;
*) ${gpus.map((line) => `echo "${line}"; `).join("")}true;;
esac`);

test.for([
  ["idle, with the memory of the driver itself", ["GPU-aa11, 1", "GPU-bb22, 64"], [], {}],
  [
    "a leftover program",
    ["GPU-aa11, 1", "GPU-bb22, 3"],
    ["GPU-aa11, 4711", "GPU-aa11, 4712", "GPU-cc33, 1"],
    { "GPU-aa11": "process 4711, 4712 still uses it" },
  ],
  [
    "memory without a program",
    ["GPU-aa11, 65", "GPU-bb22, 0"],
    [],
    { "GPU-aa11": "65 MB of its memory are still in use" },
  ],
  [
    "a GPU without a figure",
    ["GPU-aa11, 0", "GPU-bb22, [N/A]"],
    [],
    { "GPU-bb22": "[N/A] MB of its memory are still in use" },
  ],
  ["a GPU that is gone", ["GPU-bb22, 0"], [], { "GPU-aa11": "nvidia-smi no longer finds it" }],
] as const)("leftovers: %s", async ([, gpus, programs, found]) => {
  smi(gpus, programs);
  expect(Object.fromEntries(await gpuLeftovers(["GPU-aa11", "GPU-bb22"]))).toEqual(found);
});

test("a failed nvidia-smi says nothing about leftovers", async () => {
  install("echo 'Failed to initialize NVML: Unknown Error'; exit 255");
  await expect(gpuLeftovers(["GPU-aa11"])).rejects.toMatchObject({ code: "unavailable" });
});

test("the list has whole GPUs and MIG parts", () => {
  const printed = `GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-754035b4-4708-efcd-b261-623aea38bcad)\r
  MIG 3g.40gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)\r
GPU 1: A100-PCIE-40GB (UUID: GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23)
  MIG 4g.20gb Device 0: (UUID: MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0)`;
  expect(gpusListed(printed)).toEqual([
    "GPU-754035b4-4708-efcd-b261-623aea38bcad",
    "MIG-c7384736-a75d-5afc-978f-d2f1294409fd",
    "GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23",
    "MIG-GPU-9de3d0e8-33f5-10dc-0c79-2c88a7ab0a23/2/0",
  ]);
  expect(gpusListed("No devices were found")).toEqual([]);
});
