import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { strictLog } from "../../logging/testing/record-log.ts";
import { findQuota } from "../homes/find-quota.ts";
import { testSpec, waitUntilReady } from "../testing/drive-run.ts";
import { engine, runIsolated, socketPath, whyNoFirewall } from "../testing/isolated-runs.ts";
import { openXfs, sh, whyNoLimits, whyNoXfs } from "../testing/xfs-quota.ts";
import { networkName } from "./containers/ensure-network.ts";
import { dockerDriver } from "./docker-driver.ts";

const absent = (await whyNoFirewall()) ?? whyNoXfs();
const unlimited = await whyNoLimits();
const network = "none";

const fill = `import errno
written = 0
try:
    with open("big", "wb", buffering=0) as big:
        while written < 400 * 2**20: written += big.write(bytes(2**20))
except OSError as error: print(errno.errorcode[error.errno], written // 2**20)
else: print("all", written // 2**20)`;

/** What a neighbour does meanwhile. */
const write = `import errno
try:
    with open("file", "wb", buffering=0) as file: print(file.write(bytes(2**20)))
except OSError as error: print(errno.errorcode[error.errno])`;

describe.skipIf(absent)(absent ? `a full disk, skipped because ${absent}` : "a full disk", { timeout: 60_000 }, () => {
  test("without limits one home fills the disk of all", async () => {
    const disk = openXfs({ options: "noquota" });
    const [full, beside] = ["full", "beside"].map((name) => join(disk, name)) as [string, string];
    for (const home of [full, beside]) sh(`mkdir ${home}; chown 1000:1000 ${home}`);
    expect((await runIsolated(fill, { network, home: full })).output).toMatch(/^ENOSPC (1|2)\d\d$/);
    expect((await runIsolated(write, { network, home: beside })).output).toBe("ENOSPC");
    expect(() => writeFileSync(join(disk, "of-the-server"), Buffer.alloc(2 ** 20))).toThrow("ENOSPC");
  });

  const words = "with limits only the home itself is full, and JupyterLab still opens in it";
  test.skipIf(unlimited)(unlimited ? `${words}; skipped because ${unlimited}` : words, async () => {
    const disk = openXfs();
    const homeRoot = join(disk, "homes");
    mkdirSync(homeRoot);
    const quota = await findQuota(homeRoot);
    if ("missing" in quota) throw new Error(quota.missing);
    const install = `disk-${Date.now().toString(36)}`;
    const images = async () => "berth/jupyter:local";
    const parts = { engine: { socketPath }, install, homeRoot, quota, images, log: strictLog() };
    const driver = await dockerDriver({ ...parts, replaced: async () => [], publishAt: "127.0.0.1" });
    onTestFinished(() => engine.docker.getNetwork(networkName(install)).remove());
    expect(await driver.capabilities()).toMatchObject({ diskQuota: true });

    const limits = { cpus: 1, memoryMb: 512, shmMb: 64, pids: 200, diskGb: 0.05 };
    const [full, beside] = [testSpec({ limits }), testSpec({ limits })];
    onTestFinished(async () => {
      for (const { id } of [full, beside]) await driver.stop(id, 0);
    });
    await Promise.all([driver.start(full), driver.start(beside)]);
    await waitUntilReady(driver, full);
    await driver.stop(full.id, 1_000);
    const { output } = await runIsolated(fill, { network, home: join(homeRoot, full.home) });
    expect(output).toMatch(/^(ENOSPC|EDQUOT) [34]\d$/);
    expect((await runIsolated(write, { network, home: join(homeRoot, full.home) })).output).toMatch(/ENOSPC|EDQUOT/);
    expect((await runIsolated(write, { network, home: join(homeRoot, beside.home) })).output).toBe("1048576");
    writeFileSync(join(disk, "of-the-server"), Buffer.alloc(2 ** 20));

    const again = { ...full, generation: 2 };
    await driver.start(again);
    await waitUntilReady(driver, again);
    await driver.stop(full.id, 0);
    await driver.deleteHome(full.home);
    expect(await driver.homeMb(full.home)).toBe(0);
  });
});
