import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { filesIn, testSpec, waitForState, waitUntilReady } from "../testing/drive-run.ts";
import { driverSuite } from "../testing/driver.suite.ts";
import { openOtherMachine, whyNoRemote } from "../testing/other-machine.ts";
import { checkEngine } from "./check-engine.ts";
import { remoteFirewall } from "./check-remote.ts";
import { containerName, label } from "./containers/container-body.ts";
import { openEngine } from "./engine/engine.ts";
import { firewallCommands, removalCommands } from "./firewall/firewall-rules.ts";
import { findLeaks } from "./firewall/start-firewall.ts";

// Of many at once on a small machine, one start may take what ten take elsewhere.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 300_000 });

const absent = await whyNoRemote();
let machine: Awaited<ReturnType<typeof openOtherMachine>>;
const installs = { one: "1a2b3c4d5e6f", other: "6f5e4d3c2b1a" };

beforeAll(async () => {
  if (!absent) machine = await openOtherMachine();
});
afterAll(() => machine?.close());

async function openDriver(install = "one"): Promise<Driver> {
  const of = install === "one" ? installs.one : installs.other;
  return (await machine.open({ address: machine.url }, machine.keysOf("gpu-1"), of)).driver;
}

driverSuite(
  "docker driver of another machine, over TLS",
  async () => ({
    open: openDriver,
    crash: async (_, id) => machine.docker.getContainer(containerName(id)).kill(),
    close: async () => {},
  }),
  absent,
);

describe.skipIf(absent)(
  absent ? `another machine beyond the suite, skipped because ${absent}` : "another machine beyond the suite",
  () => {
    test("a run publishes its port on the private address alone, and its home is a folder of that machine", async () => {
      const driver = await openDriver();
      const wanted = await begin(driver);
      expect(await waitForState(driver, wanted.id, "running")).toMatchObject({ endpoint: { host: machine.address } });
      await waitUntilReady(driver, wanted);
      const { NetworkSettings, Mounts } = await machine.docker.getContainer(containerName(wanted.id)).inspect();
      expect(NetworkSettings.Ports["8888/tcp"]).toEqual([{ HostIp: machine.address, HostPort: expect.any(String) }]);
      expect(Mounts.map(({ Source }) => Source)).toEqual([join(machine.homeRoot, wanted.home)]);
      expect(statSync(join(machine.homeRoot, wanted.home))).toMatchObject({ uid: 1000, gid: 1000, mode: 0o40700 });
    });

    test("an archive keeps odd names, links and files that its owner may not read, nothing from outside, and no helper container stays", async () => {
      const driver = await openDriver();
      const wanted = await begin(driver);
      await inside(wanted.id, [
        "mkdir -p 'deep/-x y' closed pipes",
        "echo text > 'deep/-x y/--weird\nname'",
        "echo shut > closed/file && chmod 000 closed/file closed",
        "ln -s /etc/passwd link && mkfifo pipes/pipe && ln 'deep/-x y/--weird\nname' twin",
      ]);
      const files = await filesIn(driver.archive(wanted.home, new AbortController().signal));
      expect(files.get("deep/-x y/--weird\nname")).toBe("text\n");
      expect([files.get("closed/file"), files.get("twin")]).toEqual(["shut\n", "text\n"]);
      expect([...files.keys()].filter((name) => /link|pipe|passwd/.test(name))).toEqual([]);
      await driver.stop(wanted.id, 0);
      await driver.deleteHome(wanted.home);
      await expect.poll(() => leftIn(machine.homeRoot)).not.toContain(wanted.home);
      await expect.poll(async () => (await helpers()).length).toBe(0);
    });

    test("files that change while they are packed are cut, filled up or left out, and the archive is whole", async () => {
      const driver = await openDriver();
      const wanted = await begin(driver);
      await inside(wanted.id, [
        "yes | head -c 20000000 > a",
        "(while :; do head -c 9000000 /dev/zero > b; date >> c; mkdir d; echo x > d/e; rm -r d; done) >/dev/null 2>&1 &",
      ]);
      for (let round = 0; round < 2; round++) {
        const files = await filesIn(driver.archive(wanted.home, new AbortController().signal));
        expect(files.get("a")?.length).toBe(20_000_000);
      }
    });

    test("a reader who disconnects leaves no leftovers", async () => {
      const driver = await openDriver();
      const wanted = await begin(driver);
      await inside(wanted.id, ["head -c 60000000 /dev/urandom > big"]);
      for await (const chunk of driver.archive(wanted.home, new AbortController().signal)) if (chunk.length > 0) break;
      const ending = new AbortController();
      const given = filesIn(driver.archive(wanted.home, ending.signal));
      await expect.poll(async () => (await helpers()).length).toBe(1);
      ending.abort();
      await expect(given).rejects.toThrow("aborted");
      await expect.poll(async () => (await helpers()).length).toBe(0);
    });

    test("a client certificate that is missing, expired or of another authority is refused with the reason", async () => {
      await machine.certificates.issue("unknown", { ca: "other-ca" });
      await machine.certificates.issue("old", { ca: "ca", days: -1 });
      const shown = async (cert: string) => {
        const folder = machine.keysOf(`as-${cert}`, { cert });
        const { driver } = await machine.open({ id: `as-${cert}`, address: machine.url }, folder, installs.one);
        return driver.list().catch((error: Error) => error.message);
      };
      expect(await shown("unknown")).toMatch(
        /^The Docker Engine at tcp\+tls:\S+ refused us: it does not trust cert.pem$/,
      );
      expect(await shown("old")).toMatch(/refused us: (cert.pem is out of date|it does not trust cert.pem)$/);
      const ca = readFileSync(machine.certificates.at("ca.pem"), "utf8");
      const nothing = { url: machine.url, host: machine.address, port: 2376, certificates: { ca, cert: "", key: "" } };
      const engine = openEngine(nothing);
      await expect(engine.withTimeout((abortSignal) => engine.docker.listContainers({ abortSignal }))).rejects.toThrow(
        /refused us: it (was shown no certificate|does not trust cert.pem)$/,
      );
    });

    test("the driver of a host without certificates names the missing file", async () => {
      const { driver, engine } = await machine.open(
        { id: "bare", address: machine.url },
        "/nowhere/hosts",
        installs.one,
      );
      await expect(driver.list()).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringContaining("/nowhere/hosts/bare/"),
      });
      await expect(checkEngine(engine, { needsLiveRestore: false })).rejects.toThrow("certificates cannot be read");
    });

    test("the firewall rules of that machine have no leak, and admit only the gateways", async () => {
      const remote = await machine.open({ address: machine.url }, machine.keysOf("gpu-1"), installs.one);
      const firewall = remoteFirewall(remote, machine.depsOf(machine.keysOf("gpu-1"), installs.one));
      const wanted = await begin(remote.driver);
      onTestFinished(() => machine.asRoot(removalCommands(installs.one)));
      await waitUntilReady(remote.driver, wanted);
      expect(await findLeaks(firewall)).not.toEqual([]);
      const gateway = machine.address.replace(/2$/, "1");
      for (let round = 0; round < 2; round++) await machine.asRoot(firewallCommands(installs.one, [], [gateway]));
      expect(await findLeaks(firewall)).toEqual([]);
      await waitUntilReady(remote.driver, wanted);
      await machine.asRoot(firewallCommands(installs.one, [], ["10.9.9.9"]));
      const seen = await remote.driver.observe(wanted.id);
      const port = seen.state === "running" && "port" in seen.endpoint ? seen.endpoint.port : 0;
      // Of its own: a connection that was let in before stays.
      const socket = connect(port, machine.address);
      onTestFinished(() => void socket.destroy());
      await expect(once(socket, "connect", { signal: AbortSignal.timeout(2_000) })).rejects.toThrow("aborted");
    });

    test("a machine that disconnects is unavailable until it is back, and its runs are the same", async () => {
      const driver = await openDriver();
      const wanted = await begin(driver);
      const before = await waitForState(driver, wanted.id, "running");
      await machine.engine.kill();
      await expect(driver.observe(wanted.id)).rejects.toMatchObject({ code: "unavailable" });
      await expect(driver.homeMb(wanted.home)).rejects.toMatchObject({ code: "unavailable" });
      await machine.engine.start();
      expect(await driver.observe(wanted.id)).toEqual(before);
      expect(await driver.homeMb(wanted.home)).toBeGreaterThan(0);
    });
  },
);

describe.skipIf(absent)(absent ? `its GPUs, skipped because ${absent}` : "its GPUs", () => {
  test("are probed by the request that a run makes: their names, the devices of a run, and their usage", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-hook-"));
    writeFileSync(join(folder, "nvidia-container-runtime-hook"), hook, { mode: 0o755 });
    const owner = await openOtherMachine({ path: folder, options: ["--add-runtime", "nvidia=runc"] });
    onTestFinished(async () => {
      await owner.close();
      await rm(folder, { recursive: true });
    });
    const { driver } = await owner.open({ address: owner.url }, owner.keysOf("gpu-1"), installs.one);
    expect(await driver.capabilities()).toMatchObject({
      gpu: "nvidia",
      gpus: [{ id: "GPU-aa11", model: "H100 80GB HBM3", memoryMb: 81_559 }],
    });
    const wanted = await begin(driver, testSpec({ gpus: ["GPU-aa11"] }));
    await waitForState(driver, wanted.id, "running");
    const { HostConfig } = await owner.docker.getContainer(containerName(wanted.id)).inspect();
    expect(HostConfig.DeviceRequests).toMatchObject([{ Driver: "nvidia", DeviceIDs: ["GPU-aa11"] }]);
    expect((await driver.stats(wanted.id)).gpus).toEqual([
      { id: "GPU-aa11", usePercent: 37, memoryMb: 2048, watts: 96.5 },
    ]);
    await expect(driver.start(testSpec({ gpus: ["GPU-bb22"] }))).rejects.toMatchObject({ code: "no_gpu" });
    for (const ask of [
      (restarted: Driver) => restarted.stats(wanted.id).then(({ gpus }) => gpus.length),
      (restarted: Driver) => restarted.gpuLeftovers(["GPU-aa11"]).then(({ size }) => size + 1),
    ]) {
      const restarted = await owner.open({ address: owner.url }, owner.keysOf("gpu-1"), installs.one);
      const answer = () => ask(restarted.driver).catch(({ message }) => message);
      await expect.poll(answer, { timeout: 50_000 }).toBe(1);
    }
    writeFileSync(join(folder, "nvidia-container-runtime-hook"), hook.replaceAll("GPU-aa11", "GPU-bb22"));
    expect(await driver.capabilities()).toMatchObject({ gpus: [{ id: "GPU-aa11" }] });
    expect(await driver.capabilities(true)).toMatchObject({ gpus: [{ id: "GPU-bb22" }] });
  });
});

/** Puts the program into a container that asked for GPUs, as NVIDIA's own hook puts its driver there. */
const hook = `#!/bin/sh
bundle=$(sed 's/.*"bundle":"\\([^"]*\\)".*/\\1/')
root=$(sed 's/.*"root":{"path":"\\([^"]*\\)".*/\\1/' "$bundle/config.json")
cat > "$root/usr/bin/nvidia-smi" <<'END'
#!/bin/sh
case "$1" in
*name*) echo "GPU-aa11, NVIDIA H100 80GB HBM3, 81559";;
*compute-apps*) ;;
*gpu=uuid,memory.used) echo "GPU-aa11, 4";;
*) echo "GPU-aa11, 37, 2048, 96.5";;
esac
END
chmod 755 "$root/usr/bin/nvidia-smi"
`;

/** As the reconciler does, for whom an engine may be slow for a while: a busy machine is no failure. */
async function begin(driver: Driver, wanted = testSpec()): Promise<Spec> {
  onTestFinished(() => driver.stop(wanted.id, 0));
  const outcome = () =>
    driver.start(wanted).then(
      () => "done",
      ({ code }) => code,
    );
  await expect.poll(outcome, { timeout: 50_000 }).toBe("done");
  return wanted;
}

/** As its owner's programs do. */
async function inside(id: string, commands: readonly string[]): Promise<void> {
  const container = machine.docker.getContainer(containerName(id));
  for (const command of commands) {
    const exec = await container.exec({ Cmd: ["sh", "-c", command], WorkingDir: "/home/berth", AttachStdout: true });
    const stream = await exec.start({});
    for await (const _ of stream);
    expect((await exec.inspect()).ExitCode, command).toBe(0);
  }
}

async function helpers() {
  const all = await machine.docker.listContainers({ all: true, filters: { label: [label.install] } });
  return all.filter(({ Names }) => Names[0]?.startsWith("/helper-"));
}

function leftIn(folder: string): string[] {
  return readdirSync(folder);
}
