import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../../config/config.ts";
import { type Db, openDatabase } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { addOrder } from "../../environments/testing/setup-environments.ts";
import { insertEnvironment } from "../../gateway/testing/insert-environment.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { serveCertificates } from "../../system-tests/testing/serve-certificates.ts";
import { smallDisk } from "../../system-tests/testing/small-disk.ts";
import { stoppableCluster } from "../../system-tests/testing/stoppable-cluster.ts";
import { diagnose } from "../doctor/diagnose.ts";
import { cli, testConsole } from "./testing/test-console.ts";

const poll = { timeout: 60_000, interval: 100 };

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await registerHost(db, "local", fakeDriver({}), 1);
  await db
    .insertInto("host_images")
    .values({ host_id: "local", container_type: "jupyter", state: "ready", percent: 100 })
    .execute();
  const folder = mkdtempSync(join(tmpdir(), "berth-now-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const disk = smallDisk(folder, onTestFinished);
  const { url, serve } = await serveCertificates({ fine: 90, old: 5 }, onTestFinished);
  const env = { DATA_DIR: folder, APP_URL: url, RUNTIME: "fake", ...mail };
  const { enrol } = await testConsole({ db, diagnose: () => diagnose(db, readConfig(env)) });
  const own = await enrol();
  /** What Now shows of a fault, with what to do; a look of the doctor begins with each call. */
  const remedyOf = async (what: string): Promise<string | undefined> => {
    await own.must("POST", "now/check", {});
    const { findings }: { findings: { what: string; remedy: string }[] } = (await own.must("GET", "now")).doctor;
    return findings.find((finding) => finding.what === what)?.remedy;
  };
  return { db, disk, serve, remedyOf };
}

const mail = { SMTP_URL: "smtp://192.0.2.1", MAIL_FROM: "hello@berth.example" };

type World = Awaited<ReturnType<typeof setup>>;

interface Fault {
  /** As Now names it. */
  readonly what: string;
  readonly remedy: RegExp;
  readonly plant: (world: World) => unknown;
  readonly cure: (world: World) => unknown;
}

const faults: readonly Fault[] = [
  {
    what: "Unsent mails",
    remedy: /SMTP_URL/,
    plant: ({ db }) =>
      sql`insert into mails (id, cause, user_id, recipient, subject, body_text, body_html, useful_until, attempts, last_error)
        values ('m', 'm', 'ada', 'ada@uni.example', 's', 't', 'h', now() + interval '1 day', 3, '451 later')`.execute(
        db,
      ),
    cure: ({ db }) => sql`delete from mails`.execute(db),
  },
  {
    what: "Payment provider that does not answer",
    remedy: /RAZORPAY_KEY_ID/,
    async plant({ db }) {
      await addOrder(db, { userId: "ada", subdomain: "lab", gpuCount: 1, durationHours: 1 });
      await sql`update orders set attempts = 3, last_error = 'fetch failed', due_at = now() + interval '1 minute'`.execute(
        db,
      );
    },
    cure: ({ db }) => sql`update orders set attempts = 0, last_error = null`.execute(db),
  },
  {
    what: "Hosts and GPUs that are out of service",
    remedy: /has to be started/,
    plant: ({ db }) => sql`update hosts set away_since = now()`.execute(db),
    cure: ({ db }) => sql`update hosts set away_since = null`.execute(db),
  },
  {
    what: "Images that are missing",
    remedy: /images/,
    async plant({ db }) {
      const { id } = await insertEnvironment(db, { status: "terminated" });
      await sql`insert into launch_times (environment_id, ready_at, ready_ms) values (${id}, now(), 900)`.execute(db);
      await sql`update host_images set state = 'unavailable'`.execute(db);
    },
    cure: ({ db }) => sql`update host_images set state = 'ready'`.execute(db),
  },
  {
    what: "Backups that are late or failed",
    remedy: /backup FILE/,
    plant: ({ db }) => sql`update installation set started_at = now() - interval '3 days'`.execute(db),
    cure: ({ db }) =>
      sql`insert into backups (id, place, with_homes, ended_at) values ('b', '/srv/b', false, now())`.execute(db),
  },
  {
    what: "Clocks that differ from the database's by more than 30 seconds",
    remedy: /chrony/,
    plant() {
      const { now } = Date;
      vi.spyOn(Date, "now").mockImplementation(() => now() + 60_000);
    },
    cure: () => vi.restoreAllMocks(),
  },
  {
    what: "Certificates that expire within 30 days",
    remedy: /renew/,
    plant: ({ serve }) => serve("old"),
    cure: ({ serve }) => serve("fine"),
  },
  {
    what: "Disks that are nearly full",
    remedy: /free space/,
    plant: ({ disk }) => disk?.fill(),
    cure: ({ disk }) => disk?.free(),
  },
  {
    what: "Acts of operators that were changed or are missing",
    remedy: /audit verify/,
    plant: ({ db }) => tamper(db, "cli:eve"),
    cure: ({ db }) => tamper(db, cli.actor),
  },
];

/** As somebody who may do everything in the database. */
async function tamper(db: Db, actor: string): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`update audit set actor = ${actor} where id = 1`.execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
    await sql`delete from audit_checks`.execute(connection);
  });
}

test("Now names each fault of the machine with what to do, and is silent about it when its cause is gone", async () => {
  const world = await setup();
  onTestFinished(() => void vi.restoreAllMocks());
  for (const { what, remedy, plant, cure } of faults) {
    if (what.startsWith("Disks") && !world.disk) continue;
    expect(await world.remedyOf(what), `before: ${what}`).toBeUndefined();
    await plant(world);
    await expect.poll(() => world.remedyOf(what), { ...poll, message: what }).toMatch(remedy);
    await cure(world);
    await expect.poll(() => world.remedyOf(what), { ...poll, message: `after: ${what}` }).toBeUndefined();
  }
}, 120_000);

test("while the database is away Now says so, and it comes back without a restart", async () => {
  const cluster = await stoppableCluster(onTestFinished);
  const { db, close } = await openDatabase(cluster.connection, silentLogger);
  onTestFinished(close);
  const { enrol } = await testConsole({ db });
  const own = await enrol();
  await own.must("GET", "now");
  await cluster.stop();
  const away = await own.call("GET", "now");
  expect([away.statusCode, away.json().code]).toEqual([503, "unavailable"]);
  expect(away.json().message).not.toBe("");
  await cluster.restart();
  await expect.poll(async () => (await own.call("GET", "now")).statusCode, poll).toBe(200);
}, 120_000);
