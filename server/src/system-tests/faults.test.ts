import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { readConfig } from "../config/config.ts";
import { type Db, openDatabase } from "../database/database.ts";
import { addOrder } from "../environments/testing/setup-environments.ts";
import { insertEnvironment } from "../gateway/testing/insert-environment.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { alertRules, firing } from "../metrics/testing/alert-rules.ts";
import { scrape } from "../metrics/testing/scrape.ts";
import { diagnose } from "../operator/doctor/diagnose.ts";
import { operator } from "../operator/testing/run-operator.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { faultyMailServer } from "./testing/faulty-mail-server.ts";
import { faultyProvider, keys } from "./testing/faulty-provider.ts";
import { serveCertificates } from "./testing/serve-certificates.ts";
import { shiftedClock } from "./testing/shifted-clock.ts";
import { smallDisk } from "./testing/small-disk.ts";
import { stoppableCluster } from "./testing/stoppable-cluster.ts";

const poll = { timeout: 60_000, interval: 100 };

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-faults-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function startProduct() {
  const cluster = await stoppableCluster(onTestFinished);
  const provider = await faultyProvider((await emptyDatabase()).connection, onTestFinished);
  const mail = await faultyMailServer(onTestFinished);
  const certificates = await serveCertificates({ month: 20, week: 5, day: 1, fine: 90 }, onTestFinished);
  const DATA_DIR = dataFolder();
  const disk = smallDisk(DATA_DIR, onTestFinished);
  const clock = shiftedClock(join(temporaryFolder(), "clock"), 10);
  const env = {
    ...{ DATA_DIR, DATABASE_URL: cluster.url, METRICS_PORT: "0", APP_URL: certificates.url, LOG_LEVEL: "fatal" },
    ...{ SMTP_URL: mail.url, MAIL_FROM: "hello@berth.example", CONTACT_EMAIL: "hello@berth.example" },
    ...{ RAZORPAY_KEY_ID: keys.keyId, RAZORPAY_KEY_SECRET: keys.keySecret, RAZORPAY_URL: provider.url },
    NODE_OPTIONS: clock.NODE_OPTIONS,
  };
  const product = start(env);
  await product.url();
  const metricsUrl = /Health checks are at (\S+)\/healthz/.exec(product.said.out)?.[1] ?? "";
  const { db, close } = await openDatabase(cluster.connection, silentLogger, { keep: true });
  onTestFinished(close);
  const config = readConfig(env);
  return {
    ...{ cluster, provider, mail, certificates, db, env, disk, clock, child: product.child },
    /** Names of the alerts whose rule is true, without their time to wait. */
    async alerts(): Promise<readonly string[]> {
      const samples = await scrape(metricsUrl);
      return evaluated.filter((rule) => firing(rule, samples).length > 0).map(({ alert }) => alert);
    },
    /** Kinds of what doctor finds. */
    async findings(): Promise<readonly string[]> {
      const { findings } = await diagnose(db, config);
      // A commit while the tests run makes this program another version than the product that was started before.
      const found = findings.filter(({ kind, rows }) => rows.length > 0 && kind !== "versions_differ");
      return found.map(({ kind }) => kind);
    },
  };
}

type Product = Awaited<ReturnType<typeof startProduct>>;

/** The rules of these faults; the others need a history, which promtool has. */
const evaluated = alertRules().filter(({ expr }) => /^(abs\()?berth_[^()]*\)?( - time\(\))? [=<>]+ [\d.]+$/.test(expr));

interface Fault {
  readonly what: string;
  readonly alerts: readonly string[];
  /** What doctor says meanwhile. */
  readonly finding: string;
  readonly plant?: (product: Product) => Promise<unknown> | unknown;
  /** What the server's own polls would undo is planted before each look. */
  readonly hold?: (product: Product) => Promise<unknown>;
  readonly cure: (product: Product) => Promise<unknown> | unknown;
}

const certificateAlerts = [
  "BerthCertificateEndsIn30Days",
  "BerthCertificateEndsIn7Days",
  "BerthCertificateEndsIn1Day",
] as const;

const faults: readonly Fault[] = [
  {
    what: "a mail server that refuses",
    alerts: ["BerthMailServerDown"],
    finding: "mails_unsent",
    async plant({ mail, db }) {
      mail.isRefusing = true;
      await addMail(db, "first");
    },
    async cure({ mail, db }) {
      mail.isRefusing = false;
      await dueNow(db, "mails");
      // It wakes the sender.
      await addMail(db, "second");
    },
  },
  {
    what: "a payment provider with errors",
    alerts: ["BerthProviderDown"],
    finding: "provider_unreachable",
    async plant({ provider, db }) {
      const order = { userId: "ada", subdomain: "lab", gpuCount: 1, durationHours: 1 };
      const { id } = await provider.client.createOrder({ receipt: "r", amountMinor: 20, currency: "USD", notes: {} });
      provider.fault = "errors";
      const orderId = await addOrder(db, order);
      await sql`update orders set status = 'open', paid_at = null, gateway = 'razorpay', mode = 'test', attempts = 3,
        gateway_order_id = ${id}, hold_until = now() + interval '1 hour', watch_until = now() + interval '1 day'
        where id = ${orderId}`.execute(db);
      await dueNow(db, "orders");
    },
    async cure({ provider, db }) {
      provider.fault = "none";
      await dueNow(db, "orders");
    },
  },
  {
    what: "a host that does not answer",
    alerts: ["BerthHostDown", "BerthGpuUnknown"],
    finding: "capacity_out_of_service",
    hold: ({ db }) => sql`update hosts set away_since = now()`.execute(db),
    // As the server's own poll of the host does within 30 seconds.
    cure: ({ db }) => sql`update hosts set away_since = null`.execute(db),
  },
  {
    what: "an image that is missing",
    alerts: ["BerthImageMissing"],
    finding: "images_missing",
    async plant({ db }) {
      const { id } = await insertEnvironment(db, { status: "terminated" });
      await sql`insert into launch_times (environment_id, ready_at, ready_ms) values (${id}, now(), 900)`.execute(db);
    },
    hold: ({ db }) => sql`update host_images set state = 'unavailable' where container_type = 'jupyter'`.execute(db),
    // As the server's own look at the images does within a minute.
    cure: ({ db }) => sql`update host_images set state = 'ready'`.execute(db),
  },
  {
    what: "a backup that is late",
    alerts: ["BerthBackupLate"],
    finding: "backup_late",
    plant: ({ db }) => sql`update installation set started_at = now() - interval '3 days'`.execute(db),
    cure: ({ db }) =>
      sql`insert into backups (id, place, with_homes, ended_at) values ('b', '/srv/b', false, now())`.execute(db),
  },
  {
    what: "a clock that is a minute off",
    alerts: ["BerthClockWrong"],
    finding: "clock_wrong",
    plant({ clock }) {
      clock.shift(60_000);
      const { now } = Date;
      vi.spyOn(Date, "now").mockImplementation(() => now() + 60_000);
    },
    cure({ clock }) {
      clock.mend();
      vi.restoreAllMocks();
    },
  },
  {
    what: "a full disk",
    alerts: ["BerthDiskLow", "BerthDiskFull"],
    finding: "disk_full",
    plant: ({ disk }) => disk?.fill(),
    cure: ({ disk }) => disk?.free(),
  },
];

/** A mail that was tried three times. */
async function addMail(db: Db, id: string): Promise<void> {
  await sql`insert into mails (id, cause, user_id, recipient, subject, body_text, body_html, useful_until, attempts)
    values (${id}, ${id}, 'ada', 'ada@uni.example', 's', 't', 'h', now() + interval '1 day', 3)`.execute(db);
}

async function dueNow(db: Db, table: "mails" | "orders"): Promise<void> {
  await sql`update ${sql.table(table)} set due_at = now(), lease_token = null, lease_expires_at = null`.execute(db);
}

test("each fault is named by its alerts and by doctor, and both are silent when its cause is gone, without a restart", async () => {
  const product = await startProduct();
  onTestFinished(() => void vi.restoreAllMocks());
  for (const [index, name] of ["month", "week", "day"].entries()) {
    product.certificates.serve(name);
    await expect.poll(product.alerts, { ...poll, message: name }).toEqual(certificateAlerts.slice(0, index + 1));
    expect(await product.findings()).toEqual(["certificates_expiring"]);
  }
  product.certificates.serve("fine");
  await expect.poll(product.alerts, poll).toEqual([]);
  expect(await product.findings()).toEqual([]);
  for (const { what, alerts, finding, plant, hold, cure } of faults) {
    if (what === "a full disk" && !product.disk) continue;
    await plant?.(product);
    const whileHeld = (read: () => Promise<readonly string[]>) => async () => {
      await hold?.(product);
      return await read();
    };
    // The one before is gone by then, too.
    await expect.poll(whileHeld(product.alerts), { ...poll, message: `alerts of ${what}` }).toEqual([...alerts]);
    await expect.poll(whileHeld(product.findings), { ...poll, message: `findings of ${what}` }).toEqual([finding]);
    await cure(product);
  }
  await expect.poll(product.alerts, poll).toEqual([]);
  await expect.poll(product.findings, poll).toEqual([]);

  await product.cluster.stop();
  await expect.poll(product.alerts, poll).toEqual(["BerthDatabaseDown"]);
  const { code, stderr } = await operator(["doctor"], product.env);
  expect([code, stderr]).toEqual([1, expect.stringContaining("The database of DATABASE_URL cannot be reached")]);
  await product.cluster.restart();
  await expect.poll(product.alerts, poll).toEqual([]);
  expect(product.child.exitCode).toBeNull();
}, 400_000);
