import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { gpuUsage, hostGpus } from "./nvidia-smi.ts";

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

test("usage of a run's own GPUs only; what a model does not tell is 0", async () => {
  install(two);
  expect(await gpuUsage(["GPU-aa11"])).toEqual([{ id: "GPU-aa11", usePercent: 37, memoryMb: 2048, watts: 96.51 }]);
  expect(await gpuUsage(["GPU-bb22"])).toEqual([{ id: "GPU-bb22", usePercent: 0, memoryMb: 0, watts: 0 }]);
});

test("no driver of NVIDIA: no GPUs; a broken one is told, not taken for none", async () => {
  vi.stubEnv("PATH", "/nowhere");
  expect(await hostGpus()).toEqual([]);
  install("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver' >&2; exit 9");
  await expect(hostGpus()).rejects.toMatchObject({ code: "unavailable" });
});

test("a run on a CPU slot asks nobody", async () => {
  install("exit 9");
  expect(await gpuUsage(["cpu-1"])).toEqual([]);
});
