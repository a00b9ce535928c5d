import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { writeSamples } from "../../environments/activity/samples.ts";
import type { Notice } from "../../environments/notice.ts";
import { announceByBell } from "../../notifications/notifications.ts";
import { brokenInvariants } from "../../payments/ledger/invariants.ts";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

async function setup() {
  const product = await testApp();
  const { db } = product;
  const run = await commandRunner(db);
  const stop = product.deliver();
  const ada = await product.signUp();
  const { environment_id: id, jupyter_token: secret } = await product.rent(ada, { gpu_count: 1, duration: 24 });
  const row = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const refunds = () => db.selectFrom("refunds").select(["amount_minor", "reason"]).execute();
  const mails = async () =>
    (await db.selectFrom("mails").select(["subject", "body_text"]).where("user_id", "=", ada.id).execute()).map(
      ({ subject, body_text }) => `${subject}: ${body_text}`,
    );
  return { ...product, run, stop, ada, id, secret, row, refunds, mails };
}

test("environments are listed and shown from the outside: no secret, no file, no log", async () => {
  const { db, run, stop, ada, id, secret, row } = await setup();
  const list = async (...options: string[]) => JSON.parse((await run("environments", "--json", ...options)).stdout);
  expect(await list()).toMatchObject([
    { id, subdomain: "first-lab", status: "active", email: ada.email, host_id: "local" },
  ]);
  expect([await list("--status", "stopped"), await list("--host", "gpu-9")]).toEqual([[], []]);
  expect(await list("--host", "local", "--status", "active")).toHaveLength(1);
  expect(await run("environments", "--status", "asleep")).toMatchObject({ code: 2, stderr: "asleep is not a status." });
  const shown = [
    (await run("environment", "first-lab")).stdout,
    (await run("environment", id, "--json")).stdout,
    (await run("environments")).stdout,
  ];
  for (const text of shown) {
    expect(text).toContain(id);
    for (const hidden of [secret, String((await row()).run_token)]) expect(text).not.toContain(hidden);
  }
  expect(shown[0]).toContain("usage nothing was measured in the last hour");
  const measured = { environmentId: id, cpuCores: 1.93, memoryMb: 3120, homeMb: 12, gpus: [] };
  await writeSamples(db, [{ ...measured, receivedBytesPerSecond: null, sentBytesPerSecond: null }]);
  expect((await run("environment", id)).stdout).toMatch(
    /usage in the minute of \S+ 1\.93 cores, 3120 MB of memory, 12 MB of files\n/,
  );
  const crash = {
    userId: ada.id,
    cause: `restarted:${id}:now`,
    title: "first-lab was started again",
    body: "It ended.",
  };
  await db.transaction().execute((tx) => announceByBell(tx, { ...crash, link: null } as Notice));
  expect((await run("environment", id)).stdout).toMatch(/told its owner \S+ first-lab was started again\. It ended\./);
  expect(shown[0]).toMatch(/files_missing_since +-\n/);
  await db
    .updateTable("homes")
    .set({ missing_since: new Date("2026-11-28T12:16:06Z") })
    .execute();
  expect((await run("environment", id)).stdout).toMatch(/files_missing_since +2026-11-28 12:16Z\n/);
  expect(JSON.parse(shown[1] ?? "")).toMatchObject({
    gpus: ["local-slot-1"],
    usage: null,
    sessions: [{ closed_at: null }],
    orders: [{ status: "fulfilled" }],
  });
  expect(await run("environment", newId())).toMatchObject({ code: 1, stderr: /There is no environment/ });
  await stop();
});

test("an environment that has ended is found by its name, and what operators did with it by name and address", async () => {
  const { run, stop, ada, id, row } = await setup();
  await run("environments", "terminate", id, "--reason", "The machine goes");
  await expect.poll(async () => (await row()).status).toBe("terminated");
  await stop();
  const shown = JSON.parse((await run("environment", "first-lab", "--json")).stdout);
  expect(shown).toMatchObject({ id, status: "terminated", sessions: [{ reason: "operator" }] });
  await run("users", "warn", ada.email, "--reason", "Scans");
  const acts = async (subject: string) =>
    JSON.parse((await run("audit", "--subject", subject, "--json")).stdout).map(({ act }: { act: string }) => act);
  expect([await acts("first-lab"), await acts(ada.email.toUpperCase())]).toEqual([
    ["environment.terminate"],
    ["user.warn"],
  ]);
});

test("an operator stops an environment with a reason that its owner reads; the owner starts it again", async () => {
  const { run, stop, ada, id, row, mails, must } = await setup();
  expect(await run("environments", "stop", id)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await run("environments", "stop", "first-lab", "--reason", "Its disk is full")).toMatchObject({
    ...{ code: 1, stderr: `first-lab is a name: repeat the command with its id, ${id}` },
  });
  const ask = () => run("environments", "stop", id, "--reason", "Its disk is full");
  expect(await ask()).toMatchObject({ code: 0, stdout: `${id} stops; its owner is notified` });
  expect(await ask()).toMatchObject({ code: 0, stdout: `${id} is stopped already` });
  await expect.poll(async () => (await row()).status).toBe("stopped");
  expect((await row()).banked_seconds).toBeGreaterThan(23 * 3600);
  expect((await mails()).join()).toMatch(/first-lab was stopped by us: [\s\S]*Its disk is full\. Its files are kept\./);
  await must("POST", `/docker/restart_container/${id}/${ada.id}`, ada.token, {});
  await expect.poll(async () => (await row()).status).toBe("active");
  await stop();
});

test("an operator ends an environment: its unused time is paid back once, and files are kept", async () => {
  const { db, run, stop, id, row, refunds, mails } = await setup();
  await run("environments", "stop", id, "--reason", "First");
  await expect.poll(async () => (await row()).status).toBe("stopped");
  await db
    .updateTable("environments")
    .set({ banked_seconds: 12 * 3600 })
    .where("id", "=", id)
    .execute();
  const ask = () => run("environments", "terminate", id, "--reason", "The machine goes");
  expect(await ask()).toMatchObject({ stdout: `${id} ends; its unused time is paid back, and its owner is notified` });
  expect(await ask()).toMatchObject({ stdout: `${id} ends already` });
  await expect.poll(async () => (await row()).status).toBe("terminated");
  expect(await refunds()).toEqual([{ amount_minor: 240, reason: "discretionary" }]);
  expect((await mails()).join()).toMatch(
    /first-lab was ended by us: [\s\S]*The machine goes\. The time that you could not use is paid back\. Its files are kept as after any end\./,
  );
  expect(await db.selectFrom("homes").select("subdomain").execute()).toHaveLength(1);
  const acts = await db.selectFrom("audit").select(["act", "details"]).orderBy("id").execute();
  expect(acts.at(-1)).toEqual({ act: "environment.terminate", details: { refund: true } });
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});

test("G69 mining ends at once and is not paid back", async () => {
  const { db, run, stop, id, row, refunds, mails } = await setup();
  // They are lost, as after a restore without homes: nobody is promised them.
  await db.updateTable("homes").set({ missing_since: new Date() }).execute();
  const ask = await run("environments", "terminate", id, "--reason", "Crypto mining", "--no-refund");
  expect(ask.stdout).toBe(`${id} ends; nothing is paid back, and its owner is notified`);
  await expect.poll(async () => (await row()).status).toBe("terminated");
  const mailed = (await mails()).join();
  expect(mailed).toContain("Crypto mining.");
  expect(mailed).not.toContain("files are kept as after any end");
  expect(await refunds()).toEqual([]);
  await stop();
  expect(await brokenInvariants(db)).toEqual([]);
});
