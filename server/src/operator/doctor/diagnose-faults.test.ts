import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createSilent } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { auditWitness } from "../../audit/audit-witness.ts";
import { checkAudit } from "../../audit/check-audit.ts";
import { recordAct } from "../../audit/record-act.ts";
import { readConfig } from "../../config/config.ts";
import { certificatesIn } from "../../drivers/testing/certificates-in.ts";
import { strictLog } from "../../logging/testing/record-log.ts";
import { settingsOf, startPresence } from "../process-registry.ts";
import { askDoctor, databaseUrl, operator, operatorProcess } from "../testing/run-operator.ts";
import { setupDoctor } from "../testing/setup-doctor.ts";
import { findingKinds } from "./finding-kinds.ts";
import { runChecks } from "./run-checks.ts";

test("a check that fails and one that times out are findings of their own; the others report theirs", async () => {
  const look = (what: string, work: () => Promise<readonly string[]>) => ({
    kind: "disk_full" as const,
    what,
    remedy: "mend it",
    run: work,
  });
  const checks = [
    look("fails", () => Promise.reject(new Error("no such table"))),
    look("hangs", () => new Promise(() => {})),
    look("finds", async () => ["one"]),
  ];
  expect((await runChecks(checks, 50)).map(({ what, rows }) => [what, ...rows])).toEqual([
    ["fails", "The check failed: no such table"],
    ["hangs", "The check failed: no answer within 0.05 s"],
    ["finds", "one"],
  ]);
});

test("unsent mails are counted with their age and error; without a mail server queued mails are no finding", async () => {
  const { db, ask } = await setupDoctor();
  const mail = (id: string, attempts: number, error: string | null) =>
    sql`insert into mails (id, cause, user_id, recipient, subject, body_text, body_html, useful_until, created_at, attempts, last_error)
      values (${id}, ${id}, 'ada', 'ada@uni.example', 's', 't', 'h', now() + interval '1 day', now() - interval '2 hours', ${attempts}, ${error})`.execute(
      db,
    );
  await mail("a", 0, null);
  expect((await ask()).found["Unsent mails"]).toBeUndefined();
  await mail("b", 6, "connect ECONNREFUSED 192.0.2.1:25");
  await mail("c", 4, "connect ECONNREFUSED 192.0.2.1:25");
  const SMTP = { SMTP_URL: "smtp://192.0.2.1", MAIL_FROM: "hello@berth.example" };
  const { found, all } = await ask(SMTP);
  expect(
    all.map(({ kind }) => kind),
    "the kind of each check",
  ).toEqual(findingKinds);
  expect(found["Unsent mails"]).toEqual(
    expect.arrayContaining([
      "2 waiting, the oldest for 2h 0m, after up to 6 tries: connect ECONNREFUSED 192.0.2.1:25",
      "1 waiting, the oldest for 2h 0m, after up to 0 tries",
    ]),
  );
});

test("a missing home and a folder without an owner are listed", async () => {
  const { db, folder, ask, addHost } = await setupDoctor();
  await addHost();
  const home = (name: string, used: string) =>
    sql`insert into homes (id, home, host_id, user_id, subdomain, used_at) values (${name}, ${name}, 'local', 'ada', ${`lab-${name}`}, ${sql.raw(used)})`.execute(
      db,
    );
  await home("gone", "now()");
  await home("here", "now()");
  await home("not-yet", "null");
  await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at, delete_at)
    values ('over', 'over', 'local', 'ada', 'lab-over', now(), now())`.execute(db);
  // Of ended environments: files that were promised, and files that were missing before the end, so that nothing was.
  await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at, delete_at, missing_since)
    values ('promised', 'promised', 'local', 'ada', 'lab-promised', now(), '2126-12-01T09:00Z', null),
      ('known', 'known', 'local', 'ada', 'lab-known', now(), '2126-12-01T09:00Z', now())`.execute(db);
  for (const name of ["here", "nobodys", ".deleted-x"]) mkdirSync(join(folder, "homes", name), { recursive: true });
  const { found } = await ask();
  expect(found["Missing homes"]).toEqual([
    "gone on local, the files of lab-gone",
    "promised on local, the files of lab-promised, which has ended; they are listed until Dec 1, 2126, 9:00 AM UTC",
  ]);
  expect(found["Home folders without an owner"]).toEqual(["nobodys on local"]);
});

const whyNoMount = mountable();

test.skipIf(whyNoMount)(
  whyNoMount
    ? `a disk that is nearly full, skipped because ${whyNoMount}`
    : "a nearly full disk is listed with its free space",
  async () => {
    const { folder, ask } = await setupDoctor();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=10m", "tmpfs", folder]);
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    const look = async () => (await ask()).found["Disks that are nearly full"];
    expect(await look()).toBeUndefined();
    const fill = (name: string, megabytes: number) =>
      writeFileSync(join(folder, name), Buffer.alloc(megabytes * 1024 * 1024));
    fill("one", 9.25);
    expect(await look()).toEqual([
      expect.stringMatching(new RegExp(`^7\\.\\d % of the file system of ${folder} is free`)),
    ]);
    fill("two", 0.5);
    expect(await look()).toEqual([expect.stringMatching(/^Only 2\.\d % of .*: sell nothing more on it$/)]);
  },
);

function mountable(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "berth-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", folder], { stdio: "pipe" });
    execFileSync("umount", [folder]);
    return undefined;
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.split("\n")[0]}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("certificates near their expiry, served by the app and an engine and in files, and a host whose clock is wrong", async () => {
  const { db, folder, ask } = await setupDoctor();
  const certificates = certificatesIn(folder);
  await certificates.authority("ca");
  for (const [name, days] of Object.entries({ app: 5, fine: 90, engine: 20 }))
    await certificates.issue(name, { ca: "ca", address: "127.0.0.1", days });
  await certificates.issue("client", { ca: "ca", days: 60 });
  const text = (name: string) => readFile(certificates.at(`${name}.pem`), "utf8");
  const ahead = () => new Date(Date.now() + 90_000).toISOString();
  const serve = async (name: string) => {
    const server = createServer({ cert: await text(name), key: await text(`${name}-key`) }, ({ url = "" }, reply) =>
      reply.end(/\/json/.test(url) ? "[]" : JSON.stringify({ SystemTime: ahead() })),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const look = async (name: string) => await ask({ APP_URL: `https://127.0.0.1:${await serve(name)}` });
  const [what, clocks] = [
    "Certificates that expire within 30 days",
    "Clocks that differ from the database's by more than 30 seconds",
  ];
  expect((await look("fine")).found[what]).toBeUndefined();
  expect((await look("app")).found[what]).toEqual([
    expect.stringMatching(/^The certificate of 127.0.0.1 expires in [45] days, on .* UTC$/),
  ]);

  await sql`insert into hosts (id, kind, address, home_root, reach)
    values ('gpu-1', 'docker', ${`tcp+tls://127.0.0.1:${await serve("engine")}`}, '/srv/homes', '127.0.0.1')`.execute(
    db,
  );
  const own = join(folder, "hosts", "gpu-1");
  mkdirSync(own, { recursive: true });
  for (const [from, to] of [
    ["ca", "ca"],
    ["client", "cert"],
    ["client-key", "key"],
  ] as const)
    copyFileSync(certificates.at(`${from}.pem`), join(own, `${to}.pem`));
  const { found } = await ask();
  // The authority of these tests is two days old at most.
  expect(found[what]).toEqual([
    expect.stringMatching(/^ca.pem for gpu-1 expires in 1 days, /),
    expect.stringMatching(/^The certificate of the engine of gpu-1 expires in (19|20) days, /),
  ]);
  expect(found[clocks]).toEqual([expect.stringMatching(/^The clock of gpu-1 is (89|90|91) s ahead$/)]);
  await certificates.issue("client", { ca: "ca", days: -1 });
  copyFileSync(certificates.at("client.pem"), join(own, "cert.pem"));
  expect((await ask()).found[what]).toContainEqual(expect.stringMatching(/^cert.pem for gpu-1 expired on /));
});

test("a machine whose clock is three days ahead of the database is listed", async () => {
  const { db, folder, ask } = await setupDoctor();
  const what = "Clocks that differ from the database's by more than 30 seconds";
  expect((await ask()).found[what]).toBeUndefined();
  const ahead = "const now = Date.now; Date.now = () => now() + 259200000;";
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(ahead)}`;
  const { found } = await askDoctor(db, { DATA_DIR: folder, NODE_OPTIONS }, operatorProcess);
  // A call that waits under load is known to half of its duration only.
  expect(found[what]).toEqual([expect.stringMatching(/^The clock of this machine \(.*\) is 259(19|20)\d s ahead$/)]);
});

test("an unreachable engine is one finding, and the checks of money still run", async () => {
  const { db, ask, pay } = await setupDoctor();
  await sql`insert into refunds (id, payment_id, amount_minor, currency, reason, status, due_at, last_error)
    values ('r', ${await pay()}, 20, 'USD', 'hardware', 'failed', now(), 'no balance')`.execute(db);
  const { found, all, code } = await ask({ RUNTIME: "docker", DOCKER_HOST: "unix:///nowhere/docker.sock" });
  expect(found["Docker Engines and clusters that cannot be used"]).toEqual([
    "local: No Docker Engine answers at /nowhere/docker.sock: install or start it, or set DOCKER_HOST",
  ]);
  expect(JSON.stringify(all).split("nowhere")).toHaveLength(2);
  expect(found["Refunds that failed or are stuck"]).toEqual([expect.stringContaining("no balance")]);
  expect(found["Broken invariants"]?.length).toBeGreaterThan(0);
  expect(code).toBe(1);
});

test("an engine that accepts the connection and never answers is one finding, and does not affect other checks", async () => {
  const { folder, ask, addHost, db } = await setupDoctor();
  const silent = createSilent().listen(join(folder, "silent.sock"));
  onTestFinished(() => void silent.close());
  await addHost();
  await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at) values ('h', 'h', 'local', 'ada', 'lab', now())`.execute(
    db,
  );
  const { found, all } = await ask({ RUNTIME: "docker", DOCKER_HOST: `unix://${join(folder, "silent.sock")}` });
  expect(found["Docker Engines and clusters that cannot be used"]).toEqual([
    expect.stringMatching(/^local: The Docker Engine at \S+ did not answer within 9 s$/),
  ]);
  expect(found["Missing homes"]).toEqual(["h on local, the files of lab"]);
  expect(JSON.stringify(all)).not.toContain("The check failed");
});

const elsewhere = { id: "other", host_name: "elsewhere", started_at: "infinity" };

test("without RUNTIME the machine is checked with the settings of the running server, or of the last one", async () => {
  const { db, folder, ask } = await setupDoctor();
  const engines = "Docker Engines and clusters that cannot be used";
  const DOCKER_HOST = "unix:///nowhere/docker.sock";
  expect((await ask({ DOCKER_HOST })).found[engines]).toBeUndefined();
  await sql`insert into hosts (id, kind) values ('local', 'docker')`.execute(db);
  expect((await ask({ DOCKER_HOST })).found[engines]).toHaveLength(1);
  await sql`delete from hosts`.execute(db);
  const config = readConfig({ RUNTIME: "docker", DOCKER_HOST, DATA_DIR: folder });
  const presence = await startPresence({ db, roles: config.roles, settings: settingsOf(config), log: strictLog() });
  onTestFinished(presence.stop);
  await expect
    .poll(async () => (await ask()).notes)
    .toEqual(["These settings are taken from the running server: RUNTIME, DOCKER_HOST and DOCKER_REACH."]);
  // What the shell of doctor sets or leaves out is not said of the server.
  const shell = { APP_URL: "https://berth.uni.example", PAYMENTS: "embedded" };
  expect((await ask(shell)).notes).toEqual([expect.stringMatching(/^These settings are taken .* APP_URL\.$/)]);
  expect((await ask()).found[engines]).toEqual([expect.stringContaining("/nowhere/docker.sock")]);
  const [secret, other] = ["5".repeat(64), join(folder, "other")];
  mkdirSync(other);
  writeFileSync(join(folder, "secret"), secret);
  writeFileSync(join(other, "secret"), "7".repeat(64));
  await db.transaction().execute((tx) => recordAct(tx, { actor: "cli:ada", reason: "" }, "host.drain", "gpu-1"));
  expect(await checkAudit(db, auditWitness(folder, secret))).toBeUndefined();
  // By the worker's secret, not by that of the folder that doctor was started with.
  expect((await ask({ DATA_DIR: other })).found["Acts of operators that were changed or are missing"]).toBeUndefined();
  // A second worker, which started later.
  await sql`insert into processes select (jsonb_populate_record(p, ${JSON.stringify(elsewhere)})).* from processes p`.execute(
    db,
  );
  expect((await ask()).notes).toHaveLength(1);
  await sql`update processes set host_name = 'elsewhere'`.execute(db);
  const { notes, found } = await ask();
  expect(notes).toContain(
    "The worker runs on elsewhere: run doctor there too, for its engine, its files and its disks.",
  );
  expect(found[engines]).toBeUndefined();
  await sql`update processes set settings = settings || '{"runtime": "kubernetes"}'`.execute(db);
  expect((await ask()).notes).toEqual([expect.stringMatching(/^These settings are taken from the running server/)]);
});

test("the text report has a line for each check, its findings below it, and the remedy", async () => {
  const { db, folder, addHost } = await setupDoctor();
  await addHost();
  await sql`insert into homes (id, home, host_id, user_id, subdomain, used_at)
    select 'h' || n, 'h' || n, 'local', 'ada', 'lab-' || n, now() from generate_series(101, 125) n`.execute(db);
  const { code, stdout } = await operator(["doctor"], { DATABASE_URL: await databaseUrl(db), DATA_DIR: folder });
  expect(code).toBe(1);
  expect(stdout).toContain("Broken invariants: 0\n");
  expect(stdout).toMatch(
    /\nMissing homes: 25\n {2}h101 on local, the files of lab-101\n(.*\n){19} {2}and 5 more: doctor --json names all\n {2}Remedy: mount their disk or /,
  );
  expect(stdout).toContain("\nRoles that no process has: 1\n  No process of the server runs\n");
});
