import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { strictLog } from "../../../logging/testing/record-log.ts";
import { whyNoDocker } from "../../testing/docker-machine.ts";
import { openEngine } from "../engine/engine.ts";
import { remoteHomes } from "./remote-homes.ts";

vi.setConfig({ testTimeout: 90_000 });

const absent = await whyNoDocker();
const install = "3a3b3c3d3e3f";
const engine = openEngine({ socketPath: "/var/run/docker.sock" });

function setup({ image = "berth/jupyter:local" } = {}) {
  const root = mkdtempSync(join(tmpdir(), "berth-root-"));
  onTestFinished(async () => {
    const filters = { label: [`berth.install=${install}`] };
    await vi.waitFor(
      async () => expect(await engine.docker.listContainers({ all: true, filters })).toEqual([]),
      20_000,
    );
    await rm(root, { recursive: true });
  });
  return { root, homes: remoteHomes({ engine, install, image: async () => image }, root, strictLog()) };
}

/** The usual image, but for a program of its own. */
async function imageWith(name: string, script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "berth-program-"));
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const container = await engine.docker.createContainer({ Image: "berth/jupyter:local" });
  await container.putArchive(create({ cwd: folder }, [name]) as unknown as NodeJS.ReadableStream, {
    path: "/usr/local/bin",
  });
  const tag = crypto.randomUUID();
  await container.commit({ repo: "berth-test", tag });
  onTestFinished(async () => {
    await container.remove();
    await engine.docker.getImage(`berth-test:${tag}`).remove();
    await rm(folder, { recursive: true });
  });
  return `berth-test:${tag}`;
}

describe.skipIf(absent)(absent ? `homes behind an engine, skipped because ${absent}` : "homes behind an engine", () => {
  test("a slow count of one home does not hide the sizes of the others, and ends too", async () => {
    const script = 'case "$*" in *big) sleep 14;; esac\nexec /usr/bin/du "$@"';
    const { root, homes } = setup({ image: await imageWith("du", script) });
    for (const home of ["big", "small"]) {
      mkdirSync(join(root, home));
      writeFileSync(join(root, home, "file"), Buffer.alloc(3_000_000));
    }
    const sizes = () => Promise.all(["small", "big"].map((home) => homes.recentMb(home).catch(() => 0)));
    await expect.poll(sizes, { timeout: 40_000 }).toEqual([expect.closeTo(3, 0), 0]);
    await expect.poll(sizes, { timeout: 40_000 }).toEqual([expect.closeTo(3, 0), expect.closeTo(3, 0)]);
  });

  test("the leftovers of deleted homes of a killed server are wiped by the next deletion, even of an absent home", async () => {
    const { root, homes } = setup();
    const left = join(root, ".deleted-half");
    mkdirSync(left);
    writeFileSync(join(left, "file"), "");
    await homes.remove("nobody");
    await expect.poll(() => existsSync(left)).toBe(false);
  });
});
