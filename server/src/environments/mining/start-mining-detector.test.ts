import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { verifyAudit } from "../../audit/read-audit.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { announcer } from "../../notifications/announcer.ts";
import { miningCheck } from "../../operator/doctor/mining-check.ts";
import { commandRunner } from "../../operator/testing/run-command.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { testApp } from "../../testing/test-app.ts";
import { purgeFindings } from "./record-finding.ts";
import { type DetectorDeps, startMiningDetector } from "./start-mining-detector.ts";

const miner = "./xmrig -o pool.supportxmr.com:3333 -u 4AwAlLeT";

/** The product with a running environment of ada's. */
async function setup(fake: Record<string, number> = {}) {
  const product = await testApp({}, { fake });
  const { db, driver } = product;
  const stop = product.deliver();
  const ada = await product.signUp();
  const { environment_id: id } = await product.rent(ada, { gpu_count: 1 });
  const run = await commandRunner(db);
  const { log, lines } = recordLog();
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return {
    ...product,
    ...{ stop, ada, id, run, row, logged: lines },
    detect(mode: "ask" | "stop", changed: Partial<DetectorDeps> = {}) {
      const announce = announcer({ appUrl: "http://localhost:3000", brandName: "Berth" });
      const drivers = new Map([["local", driver]]);
      const loop = startMiningDetector({
        ...{ db, drivers, log, announce, mode, contact: "hello@berth.example", intervalMs: 30 },
        ...changed,
      });
      onTestFinished(() => loop.stop());
      return loop;
    },
    findings: () => db.selectFrom("mining_findings").selectAll().orderBy("kind").execute(),
    /** As after so many passes of the detector. */
    async passes(times: number) {
      const before = driver.calls.get("processes") ?? 0;
      await expect.poll(() => driver.calls.get("processes") ?? 0).toBeGreaterThan(before + times);
    },
    /** The last hour of the environment's GPU, at this use. */
    async busyHour(percent: number, minutes = 61) {
      await sql`
        insert into gpu_samples (environment_id, gpu_id, span_seconds, at, looks, use_percent, memory_mb)
        select ${id}, 'gpu-0', 60, date_bin('1 minute', now(), 'epoch') - n * interval '1 minute', 4, ${percent}, 900
        from generate_series(0, ${minutes}::integer - 1) n`.execute(db);
    },
  };
}

/** A JupyterLab with one kernel, which computes until `rest`: then its last cell is two hours old. */
async function kernelServer() {
  let kernel = { execution_state: "busy", last_activity: new Date().toISOString() };
  const server = createServer((request, response) => {
    response.end(JSON.stringify(request.url === "/api/kernels" ? [kernel] : []));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    endpoint: { host: "127.0.0.1", port: (server.address() as AddressInfo).port },
    rest() {
      kernel = { execution_state: "idle", last_activity: new Date(Date.now() - 7_200_000).toISOString() };
    },
  };
}

test("G157 a known miner is shown to a person first: evidence, nothing ends; dismissed, it is not found again", async () => {
  const { db, detect, driver, id, ada, findings, run, row, passes, logged } = await setup();
  driver.machine.commands.set(id, ["python3 /usr/bin/jupyter-lab", miner]);
  detect("ask");
  await expect.poll(findings).toHaveLength(1);
  const [finding] = await findings();
  expect(finding).toMatchObject({
    ...{ environment_id: id, user_id: ada.id, kind: "program", ended: false },
    evidence: { what: "the program xmrig runs", commands: [miner] },
  });
  await passes(3);
  expect(await row()).toMatchObject({ status: "active", desired: "running" });
  expect(await findings()).toHaveLength(1);
  expect(logged.filter((line) => JSON.stringify(line).includes("mining.found"))).toHaveLength(1);
  const shown = (await run("mining")).stdout;
  for (const part of [id, ada.email, "open", "the program xmrig runs", miner]) expect(shown).toContain(part);
  expect(await miningCheck(db).run()).toEqual([`${id} first-lab of ${ada.email}: the program xmrig runs`]);
  const dismiss = (...options: string[]) => run("mining", "dismiss", finding?.id ?? "", ...options);
  expect(await dismiss()).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await dismiss("--reason", "A lesson")).toMatchObject({ stdout: `${finding?.id} is dismissed` });
  expect(await dismiss("--reason", "A lesson")).toMatchObject({ stdout: `${finding?.id} was dismissed before` });
  expect((await run("mining")).stdout).toBe("Nothing looks like mining");
  expect(await miningCheck(db).run()).toEqual([]);
  await passes(3);
  expect(await findings()).toMatchObject([{ dismissed_at: expect.any(Date) }]);
  expect(JSON.parse((await run("mining", "--all", "--json")).stdout)).toMatchObject([{ state: "dismissed" }]);
  expect(await run("mining", "dismiss", "nothing", "--reason", "x")).toMatchObject({ code: 1, stderr: /no finding/ });
});

test("G69 G157 G305 with MINING=stop program, pool and load of the GPU together end the environment, without a refund", async () => {
  const { db, detect, driver, id, ada, findings, row, stop, run, passes, busyHour } = await setup();
  const miner = "./xmrig --url stratum+tcp://pool.example:3333";
  driver.machine.commands.set(id, ["bash", miner]);
  detect("stop");
  await expect.poll(findings).toMatchObject([{ kind: "program", ended: false }]);
  // A busy GPU without a miner that the kernel names: a script's name, a pool as an argument.
  driver.machine.commands.set(id, ["python3 xmrig.py --tracker stratum+tcp://scheduler:9000"]);
  await passes(2);
  await busyHour(99);
  await passes(4);
  expect(await row()).toMatchObject({ status: "active", desired: "running" });
  driver.machine.commands.set(id, ["bash", miner]);
  await expect.poll(async () => (await row()).status).toBe("terminated");
  expect(await row()).toMatchObject({ ended_reason: "terminated" });
  expect((await findings()).filter(({ ended }) => ended)).toMatchObject([
    { kind: "program", evidence: { what: expect.stringContaining("and keeps the GPUs at 99 %") } },
  ]);
  expect(await db.selectFrom("refunds").selectAll().execute()).toEqual([]);
  const mails = await db.selectFrom("mails").select(["subject", "body_text"]).where("user_id", "=", ada.id).execute();
  expect(mails.map(({ subject, body_text }) => `${subject}: ${body_text}`).join("\n")).toMatch(
    /first-lab was ended by us: [\s\S]*the program xmrig runs, talks to the pool stratum\+tcp:\/\/pool\.example and keeps the GPUs at 99 %\. The terms do not allow it, so nothing is paid back\.[\s\S]*hello@berth\.example/,
  );
  const acts = await db.selectFrom("audit").select(["actor", "act", "subject_id", "reason"]).execute();
  expect(acts).toEqual([
    {
      ...{ actor: "worker:mining", act: "environment.terminate", subject_id: id },
      reason:
        "Crypto mining: the program xmrig runs, talks to the pool stratum+tcp://pool.example and keeps the GPUs at 99 %",
    },
  ]);
  expect(await verifyAudit(db)).toMatchObject({ acts: 1 });
  expect((await run("mining")).stdout).toBe("Nothing looks like mining");
  expect(JSON.parse((await run("mining", "--all", "--json")).stdout)).toContainEqual(
    expect.objectContaining({ kind: "program", state: "ended" }),
  );
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G157 training with a busy kernel is never found, and a quiet GPU at 100 % never ends by itself", async () => {
  const { db, detect, driver, id, findings, row, passes, busyHour, stop } = await setup();
  driver.machine.commands.set(id, ["python3 -m ipykernel_launcher -f kernel.json", "python train.py"]);
  await busyHour(100);
  await stop();
  const lab = await kernelServer();
  await db
    .updateTable("environments")
    .set({ endpoint: JSON.stringify(lab.endpoint) })
    .where("id", "=", id)
    .execute();
  detect("stop");
  await passes(4);
  expect(await findings(), "a kernel computes").toEqual([]);
  lab.rest();
  await expect
    .poll(findings)
    .toMatchObject([{ kind: "gpu", ended: false, evidence: { commands: [], gpuPercent: 100, quietMinutes: 60 } }]);
  await passes(3);
  expect(await row()).toMatchObject({ status: "active", desired: "running" });
  await sql`update gpu_samples set use_percent = 60 where at < now() - interval '30 minutes'`.execute(db);
  // A pass that had read the figures before has ended.
  await passes(2);
  await db.deleteFrom("mining_findings").execute();
  await passes(3);
  expect(await findings(), "a GPU that rests now and then").toEqual([]);
});

test("one look decides nothing, a host that lists nothing is logged, and findings are purged", async () => {
  const { db, detect, driver, id, findings, passes, logged, stop } = await setup();
  driver.machine.commands.set(id, [miner]);
  const loop = detect("stop", { intervalMs: 60_000 });
  const looked = (times: number) => expect.poll(() => driver.calls.get("processes") ?? 0).toBe(times);
  await looked(1);
  for (const [times, command] of [
    [2, "bash"],
    [3, miner],
    [4, `${miner} --another`],
  ] as const) {
    driver.machine.commands.set(id, [command]);
    loop.trigger();
    await looked(times);
  }
  await loop.stop();
  expect(await findings()).toEqual([]);
  driver.failNext("processes", "unavailable", 1);
  driver.machine.commands.set(id, [miner]);
  detect("ask");
  await expect.poll(findings).toHaveLength(1);
  expect(JSON.stringify(logged)).toContain("mining.check_failed");
  await passes(1);
  await purgeFindings(db);
  expect(await findings()).toHaveLength(1);
  await sql`update mining_findings set dismissed_at = now() - interval '31 days'`.execute(db);
  await purgeFindings(db);
  expect(await findings()).toEqual([]);
  await stop();
});
