import { mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import { label } from "../../drivers/docker/containers/container-body.ts";
import { bridgeName } from "../../drivers/docker/containers/ensure-network.ts";
import {
  engineNameservers,
  firewallCommands,
  missingRules,
  removalCommands,
  runFirewallCommands,
} from "../../drivers/docker/firewall/firewall-rules.ts";
import { checkoutRecord, currentImage } from "../../drivers/docker/images/image-catalogue.ts";
import { docker, removeRuns, whyNoCatalogue } from "../../drivers/testing/docker-machine.ts";
import { shell, whyNoFirewall } from "../../drivers/testing/isolated-runs.ts";
import { openOtherMachine, whyNoRemote } from "../../drivers/testing/other-machine.ts";
import { openSecondEngine, whyNoSecondEngine } from "../../drivers/testing/second-engine.ts";
import { rent } from "../../environments/testing/setup-environments.ts";
import { installationOf } from "../../installation/installation.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { settingsOf, startPresence } from "../process-registry.ts";
import { askDoctor } from "../testing/run-operator.ts";

const absent = await whyNoCatalogue();
const image = "berth/jupyter:local";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const { id: install } = await installationOf(db);
  onTestFinished(() => removeRuns(install));
  const folder = mkdtempSync(join(tmpdir(), "berth-doctor-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const ask = (env: Record<string, string> = {}) => askDoctor(db, { RUNTIME: "docker", DATA_DIR: folder, ...env });
  return { db, install, folder, ask };
}

/** Starts a container that sleeps, with these labels; removed with the test. */
async function sleep(name: string, labels: Readonly<Record<string, string>>, isStarted = true): Promise<void> {
  const Entrypoint = ["/bin/sleep", "600"];
  const container = await docker.createContainer({ name, Image: image, Labels: labels, Entrypoint });
  onTestFinished(async () => void (await container.remove({ force: true })));
  if (isStarted) await container.start();
}

describe.skipIf(absent)(absent ? `doctor and Docker, skipped because ${absent}` : "doctor and Docker", () => {
  test("orphaned containers of this installation are listed with their age; those of environments, of other installations and of the server itself are not", async () => {
    const { db, install, ask } = await setup();
    await sql`insert into hosts (id, kind) values ('local', 'docker')`.execute(db);
    await sql`insert into gpus (id, host_id, kind) values ('slot', 'local', 'cpu')`.execute(db);
    const kept = await rent(db);
    const own = { [label.install]: install };
    const name = (of: string) => `${of}-${install}`;
    await sleep(name("bare"), own);
    await sleep(name("gone"), { ...own, [label.environment]: "gone" });
    await sleep(name("kept"), { ...own, [label.environment]: kept });
    await sleep(name("homes"), own, false);
    await sleep(name("helper"), own, false);
    await sleep(name("theirs"), { [label.install]: "another" });
    const { found, code } = await ask();
    expect(found["Containers without an environment"]?.toSorted()).toEqual([
      `${name("bare")} on local is running since 0m: belongs to no environment`,
      `${name("gone")} on local is running since 0m: its environment gone does not exist`,
    ]);
    expect(code).toBe(1);
  });
});

const noFirewall = (await whyNoFirewall()) ?? absent;

describe.skipIf(noFirewall)(
  noFirewall ? `doctor and the firewall, skipped because ${noFirewall}` : "doctor and the firewall",
  () => {
    test("a missing firewall rule is listed, also when only the running server knows of Docker; nothing is restored", async () => {
      const { db, install, folder, ask } = await setup();
      const what = "Firewall leaks";
      const nameservers = await engineNameservers();
      await runFirewallCommands(firewallCommands(install, nameservers));
      const { found } = await ask();
      expect(found[what]).toBeUndefined();
      const rule = `INPUT -i ${bridgeName(install)} -j BERTH-IN-${install.slice(0, 8)}`;
      await shell(`iptables -D ${rule}`);
      const config = readConfig({ RUNTIME: "docker", DATA_DIR: folder });
      const presence = await startPresence({ db, roles: config.roles, settings: settingsOf(config), log: strictLog() });
      onTestFinished(presence.stop);
      await expect.poll(async () => (await db.selectFrom("processes").select("id").execute()).length).toBe(1);
      expect((await ask({ RUNTIME: "process" })).found[what]).toContain(`local: a rule is missing: iptables ${rule}`);
      expect(await missingRules(install, nameservers)).toEqual([`iptables ${rule}`]);
      await runFirewallCommands(removalCommands(install));
    });
  },
);

const noSecond = absent ?? (await whyNoSecondEngine());

describe.skipIf(noSecond)(
  noSecond ? `an engine without images, skipped because ${noSecond}` : "an engine without images",
  () => {
    test("an image of the catalogue that an engine lacks is listed", async () => {
      const { ask } = await setup();
      expect((await ask()).found["Images that are missing"]).toBeUndefined();
      const engine = await openSecondEngine();
      onTestFinished(engine.close);
      const { found } = await ask({ DOCKER_HOST: `unix://${engine.socketPath}` });
      expect(found["Images that are missing"]).toEqual([
        expect.stringMatching(/^jupyter is not on local \(sha256:\w+\)$/),
      ]);
    });
  },
);

const noRemote = noSecond ?? (await whyNoRemote()) ?? (await whyOther());

describe.skipIf(noRemote)(noRemote ? `another machine, skipped because ${noRemote}` : "another machine", () => {
  let machine: Awaited<ReturnType<typeof openOtherMachine>>;
  beforeAll(async () => {
    machine = await openOtherMachine();
    return machine.close;
  }, 120_000);

  test("homes, firewall and certificates of a remote host are checked through its engine, and an unreachable engine is one finding", async () => {
    const { db, folder } = await setup();
    machine.keysOf("gpu-1");
    await rm(folder, { recursive: true });
    const ask = () => askDoctor(db, { RUNTIME: "fake", DATA_DIR: machine.folder });
    await addHost(db, machine.url, machine.homeRoot, machine.address);
    const missing = "Missing homes";
    expect((await ask()).found[missing], "its folder is not even there").toEqual(["gone on gpu-1, the files of lab"]);
    mkdirSync(join(machine.homeRoot, "nobodys"), { recursive: true });
    const { found } = await ask();
    expect(found[missing]).toEqual(["gone on gpu-1, the files of lab"]);
    expect(found["Home folders without an owner"]).toEqual(["nobodys on gpu-1"]);
    expect(found["Firewall leaks"]?.join()).toContain("gpu-1: an environment reaches ");
    expect(found["Certificates that expire within 30 days"]).toHaveLength(3);
    expect(JSON.stringify(found)).not.toContain("The check failed");
    await machine.engine.kill();
    const away = await ask();
    expect(away.found["Docker Engines and clusters that cannot be used"]).toEqual([
      expect.stringMatching(/^gpu-1: No Docker Engine/),
    ]);
    expect(away.found["Certificates that expire within 30 days"]).toHaveLength(3);
    expect(away.found[missing]).toBeUndefined();
  });
});

/** The other machine has the image by this name; doctor looks for the reference of the catalogue. */
async function whyOther(): Promise<string | undefined> {
  const { Id } = await docker.getImage(image).inspect();
  return Id === (await currentImage("jupyter", checkoutRecord))
    ? undefined
    : "the catalogue has another image: npm run images -- jupyter";
}

async function addHost(db: Db, address: string, homeRoot: string, reach: string): Promise<void> {
  await sql`insert into hosts (id, kind, address, home_root, reach)
    values ('gpu-1', 'docker', ${address}, ${homeRoot}, ${reach})`.execute(db);
  await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at)
    values ('gone', 'gone', 'gpu-1', 'ada', 'lab', now())`.execute(db);
}
