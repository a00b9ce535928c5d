import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import {
  countOnHost,
  decommissionedDriver,
  decommissionedHostIds,
} from "../../environments/hosts/decommissioned-hosts.ts";
import { markUnreachable, registerHost } from "../../environments/hosts/register-host.ts";
import { remoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import { readCapacity } from "../../environments/leases/read-capacity.ts";
import { setupEnvironments, writeOnly } from "../../environments/testing/setup-environments.ts";
import { examine } from "../doctor/diagnose.ts";
import { addHost, loseHost, removeHost } from "./add-host.ts";
import { hostText, readHosts } from "./drain-host.ts";
import { hostCommand } from "./host-command.ts";
import { gpuText, readGpus } from "./quarantine-gpu.ts";

const by = { actor: "cli:test", reason: "" };
const far = { id: "ant", address: "ssh://berth@10.0.0.5", homeRoot: "/var/lib/berth/homes", reach: "10.0.0.5" };

/** Runs `npm run operator -- hosts ...` with an empty data folder and returns its output or error. */
async function operate(db: Db, verb: string, ...words: string[]): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "berth-operator-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const config = readConfig({ DATA_DIR: folder });
  return await hostCommand({ db, config, author: by }, verb, words).catch((error: Error) => error.message);
}

test("an invalid host is refused in one sentence, and nothing is written", async () => {
  const { db } = await setupEnvironments();
  expect(await operate(db, "add", "gpu-1", "tcp://10.0.0.5:2375")).toMatch(/^tcp:\S+ is plain TCP, .* use tcp\+tls/);
  expect(await operate(db, "add", "gpu-1", "tcp+tls://gpu-1.example")).toMatch(/is a name: say with --reach/);
  expect(await operate(db, "add", "gpu-1", "tcp+tls://10.0.0.5:2376")).toMatch(
    /certificates cannot be read: ENOENT.*hosts\/gpu-1\/\w+.pem/,
  );
  expect(await operate(db, "add", "GPU 1", "tcp://10.0.0.5")).toMatch(/^GPU 1 is not a host name/);
  expect(await operate(db, "add", "local", "ssh://berth@127.0.0.1:1")).toBe("local is this machine");
  await expect(addHost(db, { ...far, id: "GPU 1" }, by)).rejects.toThrow("is not a host name");
  await expect(addHost(db, { ...far, id: "host" }, by)).rejects.toThrow("host is this machine");
  expect(await remoteHosts(db)).toEqual([]);
});

test.each(["10.0.0", "192.168.1.300", "cafe"])(
  "rules for a gateway at %s are not made: nobody would get in",
  async (no) => {
    const { db } = await setupEnvironments();
    await addHost(db, far, by);
    expect(await operate(db, "firewall", far.id, "10.0.0.2", no)).toBe(
      `${no} is not an IPv4 or IPv6 address of a gateway`,
    );
  },
);

test("a host that was added has nothing to sell before its first check; the folder of its homes does not change", async () => {
  const { db, driver } = await setupEnvironments({ slots: 1 });
  await addHost(db, far, by);
  expect(await remoteHosts(db)).toEqual([far]);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 1 });
  await addHost(db, { ...far, reach: "10.0.0.6" }, by);
  await expect(addHost(db, { ...far, homeRoot: "/srv/homes" }, by)).rejects.toThrow(
    "has its homes in /var/lib/berth/homes",
  );
  await registerHost(db, far.id, driver, 2);
  expect((await readHosts(db)).map(hostText)).toEqual([
    expect.stringMatching(/^ant \w+ at ssh:\/\/berth@10.0.0.5: 2 CPU slots/),
    expect.stringMatching(/^host fake: 1 CPU slot/),
  ]);
  expect(await remoteHosts(db)).toEqual([{ ...far, reach: "10.0.0.6" }]);
});

test("a host is removed only when nothing is left on it, is then listed nowhere, and can be added again", async () => {
  const { db, driver, rent } = await setupEnvironments({ slots: 1 });
  await addHost(db, far, by);
  await registerHost(db, far.id, driver, 1);
  const id = await rent();
  await expect(removeHost(db, far.id, by)).rejects.toThrow(
    "ant still has 1 environment, 1 CPU slot leased and 1 kept home",
  );
  await sql`update environments set status = 'terminated', desired = 'terminated', terminated_at = now() where id = ${id}`.execute(
    db,
  );
  await sql`update gpu_leases set released_at = now()`.execute(db);
  await expect(removeHost(db, far.id, by)).rejects.toThrow("0 environments, 0 CPU slots leased and 1 kept home");
  await sql`delete from homes`.execute(db);
  await removeHost(db, far.id, by);
  await expect(removeHost(db, far.id, by)).rejects.toThrow("There is no host ant");
  await expect(removeHost(db, "host", by)).rejects.toThrow("host is this machine");
  expect(await remoteHosts(db)).toEqual([]);
  expect([(await readHosts(db)).map(hostText).length, (await readGpus(db)).map(gpuText).length]).toEqual([1, 1]);
  const outOfService = (await examine(db)).find(({ what }) => what === "Hosts and GPUs that are out of service");
  expect(outOfService?.rows).toEqual([]);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 1 });
  await addHost(db, far, by);
  await registerHost(db, far.id, driver, 3);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 3 });
});

test("a decommissioned machine: launches are refunded, its files are given up, names and GPUs are free; then it is removed", async () => {
  const { db, driver, deps, recorded, rent, reach, want, read, leases, start } = await setupEnvironments({ slots: 5 });
  const ids = {
    ran: await rent({ subdomain: "ran", durationHours: 4 }),
    over: await rent({ subdomain: "over" }),
    stopped: await rent({ subdomain: "stopped" }),
    ended: await rent({ subdomain: "ended", userId: "bob" }),
  };
  for (const id of Object.values(ids)) await reach(id, "active");
  await want(ids.stopped, "stopped");
  await reach(ids.stopped, "stopped");
  await want(ids.ended, "terminated");
  await reach(ids.ended, "terminated");
  const launched = await rent({ subdomain: "launched" });
  // All of it was on the other machine.
  await addHost(db, far, by);
  for (const table of ["environments", "homes", "gpus"])
    await sql.raw(`update ${table} set host_id = 'ant'`).execute(db);
  await expect(loseHost(db, writeOnly, far.id, by)).rejects.toThrow("it can be drained");
  await markUnreachable(db, far.id);
  await sql`update hosts set away_since = now() - interval '30 minutes'`.execute(db);
  await sql`update environments set created_at = now() - interval '2 hours' where created_at is not null`.execute(db);
  await sql`
    update environments set desired = 'terminated', ended_reason = 'expired', expires_at = now() - interval '10 minutes'
    where id = ${ids.over}`.execute(db);
  await sql`update environments set expires_at = now() + interval '1 hour' where id = ${ids.ran}`.execute(db);
  expect(await countOnHost(db, far.id)).toEqual({ environments: 4, homes: 5 });

  expect([await loseHost(db, writeOnly, far.id, by), await loseHost(db, writeOnly, far.id, by)]).toEqual([
    2,
    undefined,
  ]);
  await expect(addHost(db, far, by)).rejects.toThrow("ant is lost: remove it first");
  expect(await remoteHosts(db)).toEqual([]);
  const unpaid = new Map<string, number>();
  const ended: typeof deps.delivery.ended = async (_, { id }, seconds) => void unpaid.set(id, Math.round(seconds / 60));
  const drivers = new Map((await decommissionedHostIds(db)).map((id) => [id, decommissionedDriver(id)] as const));
  expect([...drivers.keys()]).toEqual([far.id]);
  const loop = start({ drivers, delivery: { ...deps.delivery, ended } });
  for (const id of [...Object.values(ids), launched]) {
    await expect.poll(async () => (await read(id)).status, { timeout: 15_000 }).toBe("terminated");
    expect(await leases(id)).toBe(0);
  }
  const homes = () => db.selectFrom("homes").selectAll().execute();
  await expect.poll(homes, { timeout: 15_000 }).toEqual([]);
  await loop.stop();
  expect(recorded.undelivered).toEqual([`${launched}:not_delivered`]);
  expect(unpaid).toEqual(
    new Map([
      [ids.ran, 90],
      [ids.over, 20],
      [ids.stopped, 60],
    ]),
  );
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
  const notices = await db.selectFrom("notifications").selectAll().where("cause", "like", "lost:%").execute();
  expect(notices.map(({ user_id, body }) => [user_id, body.split(": ")[1]?.split(".")[0]])).toEqual(
    expect.arrayContaining([
      ["bob", "ended"],
      ["user", "launched, over, ran, stopped"],
    ]),
  );
  expect((await readHosts(db)).map(hostText)).toContainEqual(
    expect.stringMatching(/^ant .*, 0 environments, lost since .* UTC$/),
  );
  expect(driver.machine.runs.size, "the machine itself is never asked").toBeGreaterThan(0);

  await removeHost(db, far.id, by);
  await addHost(db, far, by);
  await registerHost(db, far.id, driver, 3);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 3 });
});
