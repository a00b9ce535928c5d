import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { removeRuns, whyNoDocker } from "../../drivers/testing/docker-machine.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { readCapacity } from "../leases/read-capacity.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { markUnreachable } from "./register-host.ts";
import { startRemoteHosts } from "./start-remote-hosts.ts";

vi.setConfig({ testTimeout: 90_000 });

const absent = await whyNoDocker();
const pollOptions = { timeout: 60_000, interval: 50 };

/** This machine's engine as another machine's, with the GPUs of a fake one. */
async function setup(changed: Partial<Driver> = {}) {
  const { db, driver } = await setupEnvironments({ slots: 0 });
  const folder = mkdtempSync(join(tmpdir(), "berth-remote-"));
  const install = randomBytes(6).toString("hex");
  const gpus = [1, 2].map((n) => ({ id: `GPU-${n}`, model: "RTX 4070", memoryMb: 12_282 }));
  let had = gpus;
  let known: Promise<typeof gpus> | undefined;
  const capabilities: Driver["capabilities"] = async (refresh) => {
    if (refresh) known = undefined;
    known ??= Promise.resolve(had);
    return { ...(await driver.capabilities()), gpus: await known };
  };
  const host = { id: "far", address: "ssh://berth@127.0.0.1", homeRoot: join(folder, "homes"), reach: "127.0.0.1" };
  await db
    .insertInto("hosts")
    .values({ id: "far", kind: "docker", address: host.address, home_root: host.homeRoot, reach: host.reach })
    .execute();
  const { log, lines } = recordLog();
  // Its firewall is probed too, and is none.
  const unreachable = () => lines.filter(({ event }) => event === "host.unreachable");
  const deps = {
    ...{ db, install, folder, slots: 4, needsLiveRestore: false, sshAgent: undefined },
    images: async () => "berth/jupyter:local",
    replaced: async () => [],
    log,
  };
  const address = {
    kind: "ssh",
    url: host.address,
    host: "127.0.0.1",
    port: 22,
    user: "berth",
    socketPath: "",
  } as const;
  const fit = { ...driver, capabilities, ...changed };
  const start = async (homeRoot = host.homeRoot) => {
    const engine = { socketPath: "/var/run/docker.sock" };
    const remote = { host: { ...host, homeRoot }, address, engine, driver: fit, close: async () => {} };
    const { loops, checks } = await startRemoteHosts([remote], [], deps);
    const check = checks.get("far");
    if (!check) throw new Error("no check");
    const stop = async () => void (await Promise.all(loops.map((loop) => loop.stop())));
    onTestFinished(stop);
    return { check, stop };
  };
  onTestFinished(async () => {
    await removeRuns(install);
    await rm(folder, { recursive: true, force: true });
  });
  return {
    ...{ db, unreachable, start },
    has: (count: number) => {
      had = gpus.slice(0, count);
    },
    total: async () => (await readCapacity(db, defaultCatalogue)).total,
  };
}

describe.skipIf(absent)(
  absent ? `hosts on other machines, skipped because ${absent}` : "hosts on other machines",
  () => {
    test("a host that was unreachable is checked again, and its GPUs of that time are leased", async () => {
      const { db, start, has, total } = await setup();
      const { check } = await start();
      await expect.poll(total, pollOptions).toBe(2);
      expect(check.isPassed()).toBe(true);
      await markUnreachable(db, "far");
      has(1);
      check.repeat();
      expect(check.isPassed()).toBe(false);
      await expect.poll(total, pollOptions).toBe(1);
      expect(check.isPassed()).toBe(true);
    });

    test("a host that fails the check of this server is unreachable, and that is logged", async () => {
      const { start, unreachable, total } = await setup();
      const first = await start();
      await expect.poll(total, pollOptions).toBe(2);
      await first.stop();
      const { check } = await start("/proc/homes");
      await expect.poll(total, pollOptions).toBe(0);
      expect(check.isPassed()).toBe(false);
      check.repeat();
      await expect.poll(() => unreachable()[0], pollOptions).toMatchObject({ hostId: "far" });
    });

    test("a server that stops does not wait for an image, and the late result changes nothing", async () => {
      const asked = Promise.withResolvers<void>();
      const fetched = Promise.withResolvers<void>();
      const { start, total } = await setup({
        async prepare() {
          asked.resolve();
          await fetched.promise;
        },
      });
      const { check, stop } = await start();
      await asked.promise;
      await stop();
      fetched.resolve();
      expect(check.isPassed()).toBe(false);
      expect(await total()).toBe(0);
    });
  },
);
