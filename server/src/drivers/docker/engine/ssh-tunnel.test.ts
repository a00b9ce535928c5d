import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { commandLogger } from "../../../logging/create-logger.ts";
import { removeRuns, whyNoDocker } from "../../testing/docker-machine.ts";
import { filesIn, testSpec, waitForState, waitUntilReady } from "../../testing/drive-run.ts";
import { openEngineProxy } from "../../testing/engine-proxy.ts";
import { openSshd, whyNoSshd } from "../../testing/open-sshd.ts";
import { remoteDeps } from "../../testing/other-machine.ts";
import { checkRemote } from "../check-remote.ts";
import { openRemote } from "../open-remote.ts";

vi.setConfig({ testTimeout: 60_000 });

const absent = whyNoSshd() ?? (await whyNoDocker());
const install = "5a5b5c5d5e5f";

/** This machine's engine, over an SSH server on loopback; `given`: its user may use the engine's socket. */
async function setup({ given = true } = {}) {
  const sshd = await openSshd();
  const directory = mkdtempSync(join(tmpdir(), "berth-far-"));
  chmodSync(directory, 0o711);
  const proxy = await openEngineProxy(directory);
  if (given) sshd.give(proxy.path);
  onTestFinished(async () => {
    await proxy.close();
    await sshd.close();
    await removeRuns(install);
    await rm(directory, { recursive: true, force: true });
  });
  return {
    sshd,
    proxy,
    async open(folder: string, { id = "gpu-1", port = sshd.port } = {}) {
      let isClosed = false;
      const address = `ssh://${sshd.user}@127.0.0.1:${port}${proxy.path}`;
      const host = { id, address, homeRoot: join(directory, "homes"), reach: "127.0.0.1" };
      const remote = await openRemote(
        host,
        remoteDeps(folder, install, () => isClosed),
      );
      onTestFinished(() => {
        isClosed = true;
        return remote.close();
      });
      return remote;
    },
  };
}

const wordsOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

describe.skipIf(absent)(absent ? `an engine over SSH, skipped because ${absent}` : "an engine over SSH", () => {
  test("a run from its start to the end of its files, by a user without a shell", async () => {
    const { sshd, open } = await setup();
    const { driver, host } = await open(sshd.keysOf("gpu-1"));
    const wanted = testSpec();
    expect(await driver.homeMb(wanted.home)).toBe(0);
    await driver.start(wanted);
    expect(await waitForState(driver, wanted.id, "running")).toMatchObject({ endpoint: { host: "127.0.0.1" } });
    await waitUntilReady(driver, wanted);
    const watching = new AbortController();
    const seen = driver.watch(watching.signal)[Symbol.asyncIterator]();
    const next = seen.next();
    await driver.pause(wanted.id);
    expect(await next).toMatchObject({ value: wanted.id });
    watching.abort();
    await driver.stop(wanted.id, 0);
    expect(await driver.list()).toEqual([]);
    expect(await driver.homeMb(wanted.home)).toBeGreaterThan(0);
    await filesIn(driver.archive(wanted.home, new AbortController().signal));
    await driver.deleteHome(wanted.home);
    expect(await driver.homeMb(wanted.home)).toBe(0);
    await expect.poll(() => readdirSync(host.homeRoot)).toEqual([]);
  });

  test("the leftovers of deleted homes of a killed server are wiped when the host is checked", async () => {
    const { sshd, open } = await setup();
    const folder = sshd.keysOf("gpu-1");
    const remote = await open(folder);
    const left = join(remote.host.homeRoot, ".deleted-half");
    mkdirSync(left, { recursive: true });
    const parts = { install, images: async () => "berth/jupyter:local", replaced: async () => [], folder };
    const found = checkRemote(
      remote,
      { ...parts, sshAgent: undefined, log: commandLogger },
      { needsLiveRestore: false },
    );
    expect(await found).toMatchObject({ gpus: [] });
    expect(existsSync(left)).toBe(false);
  });

  test("an unverified host key and a changed one are refused, and no key is added automatically", async () => {
    const { sshd, open } = await setup();
    const unknown = await open(sshd.keysOf("gpu-1", { known: false }));
    for (let round = 0; round < 2; round++)
      expect(await wordsOf(unknown.driver.list())).toMatch(
        /^unavailable: ssh:\S+ is refused: its host key is not known. Compare .* ssh-keyscan -p \d+ 127.0.0.1 .* \S+known_hosts$/,
      );
    const known = await open(sshd.keysOf("gpu-1"));
    expect(await wordsOf(known.driver.list())).toBe("done");
    await sshd.changeHostKey();
    const words = () => wordsOf(known.driver.list());
    await expect
      .poll(words)
      .toMatch(/^unavailable: ssh:\S+ is refused: its host key is another one than in \S+known_hosts/);
  });

  test("a refused key, a socket without permission, an unreachable server: one sentence each", async () => {
    const { sshd, open } = await setup({ given: false });
    const unknown = await open(sshd.keysOf("unknown", { key: "unknown" }), { id: "unknown" });
    expect(await wordsOf(unknown.driver.list())).toMatch(
      /^unavailable: ssh:\S+ does not let nobody in: put the public key of \S+key,/,
    );
    const folder = sshd.keysOf("gpu-1");
    const { driver } = await open(folder);
    expect(await wordsOf(driver.list())).toMatch(/^unavailable: No Docker Engine answers at ssh:\S+: .* group docker/);
    chmodSync(join(folder, "gpu-1", "key"), 0o644);
    const open_ = await open(folder);
    expect(await wordsOf(open_.driver.list())).toMatch(
      /^unavailable: The key \S+ may be read by others: chmod 600 it$/,
    );
    await sshd.stop();
    chmodSync(join(folder, "gpu-1", "key"), 0o600);
    const away = await open(folder);
    expect(await wordsOf(away.driver.list())).toMatch(/^unavailable: ssh:\S+ cannot be reached: .*Connection refused$/);
  });

  test("a refused login is retried with back-off from one second on, and succeeds once the key is accepted", async () => {
    const { sshd, open } = await setup();
    const { driver } = await open(sshd.keysOf("unknown", { key: "unknown" }), { id: "unknown" });
    const refused = Array.from({ length: 3 }, () => wordsOf(driver.list()));
    expect(new Set(await Promise.all(refused)).size).toBe(1);
    expect(await wordsOf(driver.list())).toBe(await refused[0]);
    await expect.poll(sshd.logins).toBe(1);
    sshd.authorize("unknown");
    expect(await wordsOf(driver.list())).toBe(await refused[0]);
    await expect.poll(() => wordsOf(driver.list())).toBe("done");
    await expect.poll(sshd.logins).toBe(2);
  });

  test("when no program can start for lack of file descriptors, operations say so and the server survives", async () => {
    const { sshd, open } = await setup();
    const folder = sshd.keysOf("gpu-1");
    const { host } = await open(folder);
    const script = `import { closeSync, openSync } from "node:fs";
      import { openRemote } from "${new URL("../open-remote.ts", import.meta.url)}";
      import { commandLogger } from "${new URL("../../../logging/create-logger.ts", import.meta.url)}";
      const parts = { install: "${install}", images: async () => "", replaced: async () => [], folder: ${JSON.stringify(folder)}, log: commandLogger };
      const { driver, close } = await openRemote(${JSON.stringify(host)}, parts);
      const all = [];
      try { for (;;) all.push(openSync("/dev/null")); } catch {}
      const said = await driver.list().catch(({ code, message }) => code + ": " + message);
      for (const one of all) closeSync(one);
      console.log(said, "then", await driver.list().then(() => "well"));
      await close();`;
    const limited = ["-c", 'ulimit -n 256; exec "$@"', "sh", process.execPath, "--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)("/bin/sh", limited);
    expect(stdout).toMatch(/^unavailable: ssh:\S+ cannot be reached: no ssh can be started .* EMFILE then well$/m);
  });

  test("the next operation reconnects a broken connection", async () => {
    const { sshd, open } = await setup();
    const { driver } = await open(sshd.keysOf("gpu-1"));
    expect(await wordsOf(driver.list())).toBe("done");
    await sshd.stop();
    await expect.poll(() => wordsOf(driver.list())).toMatch(/^unavailable: /);
    await sshd.restart();
    await expect.poll(() => wordsOf(driver.list())).toBe("done");
  });

  test("ssh ends with the server that was killed", async () => {
    const { sshd, open } = await setup();
    const folder = sshd.keysOf("gpu-1");
    const { host } = await open(folder);
    const script = `import { openRemote } from "${new URL("../open-remote.ts", import.meta.url)}";
      import { commandLogger } from "${new URL("../../../logging/create-logger.ts", import.meta.url)}";
      const parts = { install: "${install}", images: async () => "", replaced: async () => [], folder: ${JSON.stringify(folder)}, log: commandLogger };
      const { driver } = await openRemote(${JSON.stringify(host)}, parts);
      await driver.list();
      process.kill(process.pid, "SIGKILL");`;
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]).catch(() => {});
    const left = () =>
      promisify(execFile)("pgrep", ["-f", "--", `-p ${sshd.port} -o`]).then(
        ({ stdout }) => stdout,
        () => "",
      );
    await expect.poll(left).toBe("");
  });
});
