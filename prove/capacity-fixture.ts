import { sql } from "kysely";
import type { Pool } from "pg";
import { type Changes, openChanges } from "../server/src/database/changes.ts";
import { type Db, openDatabase } from "../server/src/database/database.ts";
import { newId } from "../server/src/database/new-id.ts";
import type { Driver } from "../server/src/drivers/driver.ts";
import { fakeDriver } from "../server/src/drivers/fake/fake-driver.ts";
import { type FakeMachine, fakeMachine } from "../server/src/drivers/fake/fake-machine.ts";
import { type HoldRequest, hold } from "../server/src/environments/allocation/hold.ts";
import { registerHost } from "../server/src/environments/hosts/register-host.ts";
import { startQueueProcessor } from "../server/src/environments/queue/process-queue.ts";
import { startReconciler } from "../server/src/environments/reconciler/start-reconciler.ts";
import { startWarmPool } from "../server/src/environments/warm-pool/start-warm-pool.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { recordLog } from "../server/src/logging/testing/record-log.ts";
import { announce } from "../server/src/notifications/notifications.ts";
import { startCluster } from "./cluster.ts";
import { Ended, type Fuse, fused, fusedDatabase, openGate, openPool } from "./process-model.ts";

const install = "capacity";
const hostId = "local";
/** So that askers really stand side by side in the database. */
const connections = 24;

/** One machine with its GPUs, a database, and a server that may end at any step. */
export interface World {
  /** Not the server's: for what is looked at. */
  readonly db: Db;
  readonly machine: FakeMachine;
  /** What failed and is not the end of a server. */
  readonly failures: unknown[];
  /** Ends the server at a step, whichever comes then. */
  arm(fuse: Fuse): void;
  readonly ends: () => number;
  /** Runs on the server that is there, again on the next one when it ends meanwhile: work must bear that. */
  on<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

export async function openWorld(stack: AsyncDisposableStack, gpus: number): Promise<World> {
  const connection = await startCluster(stack);
  const database = await openDatabase(connection, silentLogger);
  stack.defer(() => database.close());
  const pool = openPool(connection, connections);
  stack.defer(() => pool.end());
  const machine = fakeMachine();
  const driver = fakeDriver({ gpus }, { machine, install });
  stack.defer(() => driver.close());
  await registerHost(database.db, hostId, driver, 0);
  await sql`insert into host_images (host_id, container_type, state) values (${hostId}, 'jupyter', 'ready')`.execute(
    database.db,
  );
  const failures: unknown[] = [];
  const parts = { pool, driver, failures, changes: await openChanges(database) };
  let server = startServer(parts);
  let ends = 0;
  stack.defer(() => server.stop());
  const replace = async (dead: Server) => {
    if (server !== dead) return;
    ends++;
    server = startServer(parts);
    await dead.stop();
    // The lease of a killed worker lasts ten seconds; those pass.
    await sql`update environments set due_at = now(), lease_expires_at = now() where lease_token is not null and status <> 'terminated'`.execute(
      database.db,
    );
    await sql`update warm_runs set due_at = now(), lease_expires_at = now() where lease_token is not null`.execute(
      database.db,
    );
  };
  return {
    db: database.db,
    machine,
    failures,
    ends: () => ends,
    arm(fuse) {
      const before = server;
      server = startServer(parts, fuse);
      void before.stop();
    },
    async on(work) {
      for (;;) {
        const used = server;
        try {
          return await work(used.db);
        } catch (error) {
          if (!used.isShut()) throw error;
          await replace(used);
        }
      }
    },
  };
}

type Server = ReturnType<typeof startServer>;

interface ServerParts {
  readonly pool: Pool;
  readonly driver: Driver;
  readonly changes: Changes;
  readonly failures: unknown[];
}

/** What leases, starts, ends and serves the line. What is paid for is a matter of other proofs. */
function startServer({ pool, driver, changes, failures }: ServerParts, fuse?: Fuse) {
  const gate = openGate(fuse);
  const db = fusedDatabase(pool, gate);
  const { log } = recordLog((error) => {
    if (!gate.isShut() && !(error instanceof Ended)) failures.push(error);
  });
  const drivers = new Map([[hostId, fused<Driver>(driver, gate)]]);
  const answers = async () => true;
  const loops = [
    startReconciler({
      ...{ db, changes, announce, log, retentionDays: 0, drivers, isReady: answers },
      delivery: {
        delivered: async () => ({ bonusHours: 0 }),
        undelivered: async () => {},
        kept: async () => true,
        ended: async () => {},
      },
    }),
    startWarmPool({ db, changes, drivers, isReady: answers, log, sizes: { jupyter: 2 } }),
    startQueueProcessor({ db, changes, announce, log }),
  ];
  return {
    db,
    isShut: gate.isShut,
    async stop() {
      gate.close();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

class Refused extends Error {}

export type Asked = Pick<HoldRequest, "orderId" | "userId" | "subdomain" | "gpuCount">;

let users = 0;
export function newAsker(gpuCount: number): Asked {
  const userId = `user-${++users}`;
  return { orderId: newId(), userId, subdomain: userId, gpuCount };
}

/** As create_order: the order with its hold, or neither. Asked again it is the same order. True when it has its GPUs. */
export async function create(world: World, asked: Asked): Promise<boolean> {
  const { orderId, userId, subdomain, gpuCount } = asked;
  const write = (db: Db) =>
    db.transaction().execute(async (tx) => {
      await sql`
        insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
          currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at, due_at)
        values (${orderId}, ${userId}, 'paid', 'jupyter', ${subdomain}, ${gpuCount}, 24, 20, 20, 'USD', 8822, 'embedded',
          'embedded', ${orderId}, '', now(), now(), now(), now()) on conflict do nothing`.execute(tx);
      const holdUntil = new Date(Date.now() + 900_000);
      if (!(await hold(tx, { ...asked, holdUntil })).ok) throw new Refused();
    });
  try {
    await world.on(write);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}
