import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../database/database.ts";
import { hold } from "../../environments/allocation/hold.ts";
import { markUnreachable, registerHost } from "../../environments/hosts/register-host.ts";
import { readCapacity } from "../../environments/leases/read-capacity.ts";
import { requestMoves } from "../../environments/moves/request-moves.ts";
import { enterQueue, queuePositionOf } from "../../environments/queue/join-queue.ts";
import { processQueue } from "../../environments/queue/process-queue.ts";
import { addHosts, addOrder, inMs, setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { announceByBell } from "../../notifications/notifications.ts";
import { examine } from "../doctor/diagnose.ts";
import { databaseUrl, operator } from "../testing/run-operator.ts";
import { drainHost, hostText, readHosts, undrainHost } from "./drain-host.ts";
import { gpuText, quarantineGpu, readGpus, releaseGpu } from "./quarantine-gpu.ts";

const by = { actor: "cli:test", reason: "" };

/** Runs `npm run operator -- ...` on the database of the running server. */
async function operate(db: Db, ...words: string[]) {
  const { stdout, stderr } = await operator(words, { DATABASE_URL: await databaseUrl(db) });
  return (stdout || stderr).trim();
}

async function setup() {
  const environments = await setupEnvironments({ slots: 3 });
  const { db } = environments;
  const order = async () => {
    const orderId = await addOrder(db, { userId: "eve", subdomain: "eves", gpuCount: 1, durationHours: 1 });
    const request = { orderId, userId: "eve", subdomain: "eves", gpuCount: 1, holdUntil: inMs(900_000) };
    return await db.transaction().execute((tx) => hold(tx, request));
  };
  const outOfService = async () =>
    (await examine(db)).find(({ what }) => what === "Hosts and GPUs that are out of service")?.rows;
  return { ...environments, order, outOfService };
}

test("a host that drains leases nothing new, neither to orders nor to the queue nor to a restart; its owners are notified once", async () => {
  const { db, rent, reach, want, order, outOfService } = await setup();
  const ids = [await rent({ userId: "ann", subdomain: "first" }), await rent({ userId: "ann", subdomain: "second" })];
  for (const id of ids) await reach(id, "active");
  const gone = await rent({ userId: "bob", subdomain: "gone" });
  await want(gone, "terminated");
  await reach(gone, "terminated");
  await want(ids[1] ?? "", "stopped");
  await reach(ids[1] ?? "", "stopped");
  const because = { ...by, reason: "New disks on Monday" };
  expect([
    await drainHost(db, announceByBell, "host", because),
    await drainHost(db, announceByBell, "host", because),
  ]).toEqual([1, undefined]);
  const recorded = await db.selectFrom("notifications").selectAll().where("cause", "like", "drain:%").execute();
  expect(recorded).toMatchObject([
    { user_id: "ann", body: expect.stringMatching(/^New disks on Monday\. On it: first, second\. What runs/) },
  ]);
  expect(await order()).toMatchObject({ ok: false, code: "out_of_stock" });
  await expect(enterQueue(db, "eve", 1, async () => {})).rejects.toThrow("No machine has 1 slot");
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 0, free: 0 });
  expect((await readHosts(db)).map(hostText)).toEqual([
    expect.stringMatching(/^host fake: 3 CPU slots, 1 leased, 0 quarantined, 2 environments, draining since .* UTC$/),
  ]);
  expect(await outOfService()).toEqual(["host drains"]);
  // Who has something there only since then has read of no drain, and reads of no end.
  await sql`update environments set user_id = 'eve' where id = ${ids[0]}`.execute(db);
  expect([
    await undrainHost(db, announceByBell, "host", by),
    await undrainHost(db, announceByBell, "host", by),
  ]).toEqual([true, false]);
  const after = await db
    .selectFrom("notifications")
    .select(["user_id", "body"])
    .where("cause", "like", "drain:%:over")
    .execute();
  expect(after).toEqual([
    { user_id: "ann", body: expect.stringContaining("The machine of second is back in service.") },
  ]);
  expect(await order()).toMatchObject({ ok: true });
  await expect(drainHost(db, announceByBell, "nowhere", by)).rejects.toThrow("There is no host nowhere");
});

test("an order that selects GPUs while its host is being drained gets none", async () => {
  const { db, order } = await setup();
  let asked: ReturnType<typeof order> | undefined;
  await db.transaction().execute(async (tx) => {
    await sql`update hosts set drained_at = now()`.execute(tx);
    asked = order();
    await expect
      .poll(async () => (await sql`select 1 from pg_locks where not granted`.execute(db)).rows.length)
      .toBeGreaterThan(0);
  });
  expect(await asked).toMatchObject({ ok: false, code: "out_of_stock" });
});

test("the queue does not get GPUs of a host that drains, and gets them after undrain", async () => {
  const { db, rent, reach, want } = await setup();
  const id = await rent({ gpuCount: 3 });
  await reach(id, "active");
  await enterQueue(db, "eve", 1, async () => {});
  await drainHost(db, announceByBell, "host", by);
  await want(id, "terminated");
  await reach(id, "terminated");
  await processQueue(db, announceByBell);
  expect(await queuePositionOf(db, "eve")).toMatchObject({ state: "waiting", expected_at: null });
  await undrainHost(db, announceByBell, "host", by);
  await processQueue(db, announceByBell);
  expect(await queuePositionOf(db, "eve")).toMatchObject({ state: "held" });
});

test("a host that does not answer is listed", async () => {
  const { db, outOfService } = await setup();
  await markUnreachable(db, "host");
  expect((await readHosts(db)).map(hostText)).toEqual([
    expect.stringMatching(/^host fake: .*, not answering since .* UTC$/),
  ]);
  expect(await outOfService()).toEqual(["host does not answer"]);
  expect(await operate(db, "hosts", "lost", "host")).toMatch(/^This ends 0 environments on host for good, with/);
  expect(await operate(db, "hosts", "lost", "host", "--yes")).toBe("host is this machine: it can be drained, not lost");
});

test("a GPU with a warm run names it, so that its container or pod can be found", async () => {
  const { db } = await setup();
  await sql`
    with run as (
      insert into warm_runs (id, host_id, container_type, gpus, home, run_token, state)
      values ('w1', 'host', 'jupyter', array['host-slot-2'], 'h1', 't', 'ready'))
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id) values ('l1', 'host-slot-2', 'pool', 'w1')`.execute(db);
  expect((await readGpus(db)).map(gpuText)[1]).toBe("host-slot-2 on host: free, with the warm run w1 of jupyter");
});

test("a quarantined GPU is not leased, also after a restart of the server, until it is released", async () => {
  const { db, driver, rent, reach, order, outOfService } = await setup();
  const id = await rent({ gpuCount: 1, subdomain: "lab" });
  await reach(id, "active");
  const said = await operate(db, "gpus", "quarantine", "host-slot-1", "It", "gets", "hot");
  expect(said).toBe("host-slot-1 is quarantined; its holder keeps it to the end");
  expect(await quarantineGpu(db, "host-slot-2", { ...by, reason: "Its fan is loud" })).toBe(false);
  await registerHost(db, "host", driver, 2);
  await registerHost(db, "host", driver, 3);
  expect((await readGpus(db)).map(gpuText)).toEqual([
    expect.stringMatching(
      new RegExp(`^host-slot-1 on host: quarantined .* UTC: It gets hot; still environment ${id} \\(lab\\)$`),
    ),
    expect.stringMatching(/^host-slot-2 on host: quarantined .* UTC: Its fan is loud$/),
    "host-slot-3 on host: free",
  ]);
  expect(await outOfService()).toHaveLength(2);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 1, free: 1 });
  expect(await order()).toMatchObject({ ok: true });
  expect((await readGpus(db)).map(gpuText)[2]).toMatch(/^host-slot-3 on host: held for order /);
  expect([await releaseGpu(db, "host-slot-2", by), await releaseGpu(db, "host-slot-2", by)]).toEqual([true, false]);
  expect(await readCapacity(db, defaultCatalogue)).toMatchObject({ total: 2, free: 1 });
  await registerHost(db, "host", driver, 1);
  await expect(releaseGpu(db, "host-slot-2", by)).rejects.toThrow(
    "host-slot-2 is not quarantined, host does not offer it",
  );
  expect(await operate(db, "gpus", "release", "nothing")).toBe(
    "There is no GPU nothing. npm run operator -- gpus list names them.",
  );
});

test("G195 a host whose files move drains, says what moves and what stays, and is refused where nothing can take them", async () => {
  const { db, rent, reach, want } = await setup();
  const [stopped, running] = [
    await rent({ userId: "ann", subdomain: "first" }),
    await rent({ userId: "ann", subdomain: "second" }),
  ];
  for (const id of [stopped, running]) await reach(id, "active");
  await want(stopped, "stopped");
  await reach(stopped, "stopped");
  expect(await operate(db, "hosts", "drain", "host", "--move")).toBe(
    "No other host takes environments, so nothing can move: add one first",
  );
  expect(await db.selectFrom("hosts").select("drained_at").execute()).toEqual([{ drained_at: null }]);
  await addHosts(db, { other: 1 });
  expect(await operate(db, "hosts", "drain", "host", "--move", "--reason", "New disks")).toMatch(
    /^host takes no new environments; 1 owner is notified\nTo move now: 1 stopped environment, and the kept files of 0 that have ended. These follow when they are stopped or have ended: second \(active until .* UTC\).$/,
  );
  const notices = await db.selectFrom("notifications").select("body").where("cause", "like", "drain:%").execute();
  expect(notices).toEqual([{ body: expect.stringContaining("What is stopped moves to another machine") }]);
  expect(await operate(db, "hosts", "drain", "host", "--move")).toMatch(/^host is draining already\nTo move now: 1/);
  expect((await readHosts(db)).map(hostText)[0]).toMatch(/draining since .* UTC, 2 homes left to move$/);
  await db.transaction().execute((tx) =>
    sql`
    insert into home_moves (id, user_id, from_host, from_home, last_error)
    select id, user_id, host_id, home, 'the disk is full' from homes where subdomain = 'first'`.execute(tx),
  );
  expect((await readHosts(db)).map(hostText)[0]).toMatch(/left to move, a move is tried again: the disk is full$/);
});

test("G197 a second drain without it, and an undrain, take back what has not moved; each is an act", async () => {
  const { db, rent, reach, want } = await setup();
  const id = await rent({ userId: "ann", subdomain: "first" });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  await addHosts(db, { other: 1 });
  const moving = async () => {
    const { rows } = await sql<{ moving: boolean; drained: boolean; cancelled: boolean }>`
      select moving_since is not null as moving, drained_at is not null as drained,
        (select cancelled_at is not null from home_moves) as cancelled from hosts where id = 'host'`.execute(db);
    return rows[0];
  };
  for (const takeBack of [
    () => drainHost(db, announceByBell, "host", by),
    () => undrainHost(db, announceByBell, "host", by),
  ]) {
    await drainHost(db, announceByBell, "host", by, { moves: true });
    await requestMoves(db);
    expect(await moving()).toEqual({ moving: true, drained: true, cancelled: false });
    await takeBack();
    expect(await moving()).toMatchObject({ moving: false, cancelled: true });
    await sql`delete from home_moves`.execute(db);
    await requestMoves(db);
    expect(await moving()).toMatchObject({ cancelled: null });
  }
  expect(await moving()).toMatchObject({ drained: false });
  const acts = await db.selectFrom("audit").select("act").orderBy("id").execute();
  expect(acts.map(({ act }) => act)).toEqual(["host.move", "host.stop_moving", "host.move", "host.undrain"]);
});
