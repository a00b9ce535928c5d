import { request } from "node:http";
import { sql } from "kysely";
import { onTestFinished } from "vitest";
import type { Loop } from "../../async/start-interval.ts";
import { openChanges } from "../../database/changes.ts";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import type { Endpoint } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { hold } from "../allocation/hold.ts";
import { launch } from "../allocation/launch.ts";
import { registerHost } from "../hosts/register-host.ts";
import type { Announce, Notice } from "../notice.ts";
import { batchUnchanged } from "../reconciler/batch-unchanged.ts";
import { type ReconcileDeps, reconcile } from "../reconciler/reconcile.ts";
import { type ReconcilerDeps, startReconciler } from "../reconciler/start-reconciler.ts";
import type { Delivery } from "../reconciler/status/on-status-change.ts";
import { fetchEnvironments, type LeasedEnvironment } from "../reconciler/work-lease.ts";

export interface Rental {
  readonly userId?: string;
  readonly subdomain?: string;
  readonly gpuCount?: number;
  readonly durationHours?: number;
  readonly giveUpInMs?: number;
}

interface SetupOptions {
  readonly slots?: number;
  readonly options?: Record<string, number>;
  readonly announce?: Announce;
}

/** A database with one fake host of `slots`, everything a reconciler needs, and a record of its calls to others. */
export async function setupEnvironments({ slots = 8, options = {}, announce = writeOnly }: SetupOptions = {}) {
  const database = await testDatabase();
  const { db } = database;
  const driver = fakeDriver(options);
  await registerHost(db, "host", driver, slots);
  const loops: Loop[] = [];
  onTestFinished(async () => {
    for (const loop of loops) await loop.stop();
    await driver.close();
    await database.close();
  });
  const { recorded, delivery, log } = recorder();
  const deps: ReconcilerDeps & Pick<ReconcileDeps, "writeUnchanged"> = {
    db,
    changes: await openChanges(database),
    drivers: new Map([["host", driver]]),
    delivery,
    writeUnchanged: batchUnchanged(db),
    announce,
    isReady: isLabReady,
    retentionDays: 30,
    log,
  };
  return {
    db,
    driver,
    deps,
    recorded,
    /** The loop itself, ended with the test. */
    start(changed: Partial<ReconcilerDeps> = {}): Loop {
      const loop = startReconciler({ ...deps, ...changed });
      loops.push(loop);
      return loop;
    },
    rent: (rental: Rental = {}) => rent(db, rental),
    read: (id: string) => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow(),
    /** One pass over all rows, due or not; returns them. */
    pass: (changed: Partial<ReconcilerDeps> = {}) => onePass({ ...deps, ...changed }),
    /** Passes until the status is reached. */
    reach: (id: string, status: string) => reach(deps, id, status),
    want: (id: string, desired: "running" | "paused" | "stopped" | "terminated") =>
      db
        .updateTable("environments")
        .set({ desired, due_at: new Date(0) })
        .where("id", "=", id)
        .execute(),
    leases: (id: string) => openLeases(db, id),
  };
}

export type Setup = Awaited<ReturnType<typeof setupEnvironments>>;

/** Of environments that nobody paid for. */
export const freeDelivery: Delivery = {
  delivered: async () => ({ bonusHours: 0 }),
  undelivered: async () => {},
  kept: async () => ({ bonusHours: 0 }),
  ended: async () => {},
};

function recorder() {
  const { log, lines, errors: failures } = recordLog();
  const recorded = { delivered: [] as string[], undelivered: [] as string[], kept: [] as string[], failures, lines };
  const delivery: Delivery = {
    async delivered(_, { id }) {
      recorded.delivered.push(id);
      return { bonusHours: 0 };
    },
    async undelivered(_, { id }, reason) {
      recorded.undelivered.push(`${id}:${reason}`);
    },
    async kept(_, { id }) {
      recorded.kept.push(id);
      return { bonusHours: 0 };
    },
    async ended() {},
  };
  return { recorded, delivery, log };
}

export async function writeOnly(tx: Tx, { userId, ...notice }: Notice): Promise<void> {
  await tx
    .insertInto("notifications")
    .values({ id: newId(), user_id: userId, ...notice })
    .onConflict((conflict) => conflict.columns(["user_id", "cause"]).doNothing())
    .execute();
}

/** Hosts by id, with so many GPUs each. */
export async function addHosts(db: Db, hosts: Readonly<Record<string, number>>): Promise<void> {
  for (const [id, count] of Object.entries(hosts)) {
    await sql`insert into hosts (id, kind) values (${id}, 'fake')`.execute(db);
    await sql`insert into gpus (id, host_id, kind) select ${id} || n, ${id}, 'gpu' from generate_series(1, ${count}) n`.execute(
      db,
    );
  }
}

/** The environment of a paid order, launched as by a settlement. */
export async function rent(db: Db, rental: Rental = {}): Promise<string> {
  const {
    userId = "user",
    subdomain = `name-${newId().slice(0, 8)}`,
    gpuCount = 1,
    durationHours = 1,
    giveUpInMs = 600_000,
  } = rental;
  const orderId = await addOrder(db, { userId, subdomain, gpuCount, durationHours });
  return await db.transaction().execute(async (tx) => {
    const held = await hold(tx, { orderId, userId, subdomain, gpuCount, holdUntil: inMs(900_000) });
    if (!held.ok) throw new Error(held.message);
    const times = { orderedAt: inMs(-2000), paidAt: inMs(-1000), giveUpAt: inMs(giveUpInMs) };
    return await launch(tx, {
      orderId,
      userId,
      subdomain,
      gpuCount,
      durationHours,
      containerType: "jupyter",
      ...times,
    });
  });
}

export async function addOrder(
  db: Db,
  order: { userId: string; subdomain: string; gpuCount: number; durationHours: number },
): Promise<string> {
  const id = newId();
  await sql`
    insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
      currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at, due_at)
    values (${id}, ${order.userId}, 'paid', 'jupyter', ${order.subdomain}, ${order.gpuCount}, ${order.durationHours}, 20, 20,
      'USD', 8822, 'embedded', 'embedded', ${`order_${id}`}, '', now(), now(), now(), now())`.execute(db);
  return id;
}

export function inMs(ms: number): Date {
  return new Date(Date.now() + ms);
}

async function openLeases(db: Db, holderId: string): Promise<number> {
  const rows = await db
    .selectFrom("gpu_leases")
    .where("holder_id", "=", holderId)
    .where("released_at", "is", null)
    .select("id")
    .execute();
  return rows.length;
}

async function onePass(deps: ReconcileDeps): Promise<readonly LeasedEnvironment[]> {
  await sql`update environments set due_at = least(due_at, now()) where status <> 'terminated'`.execute(deps.db);
  const rows = await fetchEnvironments(deps.db, [...deps.drivers.keys()], 20, sql`true`);
  for (const row of rows) await reconcile(deps, row);
  return rows;
}

async function reach(deps: ReconcileDeps, id: string, status: string): Promise<void> {
  for (let passes = 0; passes < 200; passes++) {
    await onePass(deps);
    const row = await deps.db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    if (row.status === status) return;
  }
  throw new Error(`${id} did not become ${status}`);
}

/** Probes the environment directly, because the gateway is to the right of this folder. */
async function isLabReady(endpoint: Endpoint, token: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = { authorization: `token ${token}` };
  request({ ...endpoint, path: "/lab", headers, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  })
    .on("error", () => resolve(false))
    .end();
  return await promise;
}
