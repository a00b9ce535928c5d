import { sql } from "kysely";
import type { Pool } from "pg";
import { type Changes, openChanges } from "../server/src/database/changes.ts";
import { type Db, openDatabase } from "../server/src/database/database.ts";
import { newId } from "../server/src/database/new-id.ts";
import type { Driver } from "../server/src/drivers/driver.ts";
import { fakeDriver } from "../server/src/drivers/fake/fake-driver.ts";
import { type FakeMachine, fakeMachine } from "../server/src/drivers/fake/fake-machine.ts";
import { type HoldRequest, renewHold } from "../server/src/environments/allocation/hold.ts";
import { registerHost } from "../server/src/environments/hosts/register-host.ts";
import { startQueueProcessor } from "../server/src/environments/queue/process-queue.ts";
import { startReconciler } from "../server/src/environments/reconciler/start-reconciler.ts";
import { freeDelivery } from "../server/src/environments/testing/setup-environments.ts";
import { startWarmPool } from "../server/src/environments/warm-pool/start-warm-pool.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { recordLog } from "../server/src/logging/testing/record-log.ts";
import { announceByBell } from "../server/src/notifications/notifications.ts";
import { Ended, type Fuse, fused, fusedDatabase, openGate, openPool } from "./money/process-model.ts";
import { startCluster } from "./nodes/cluster.ts";

const install = "capacity";
const hostId = "local";
/** Enough for concurrent transactions. */
const connections = 24;

/** One machine with its GPUs, a database, and a server that may end at any step. */
export interface CapacityFixture {
  /** A connection of the proof's own, for assertions. */
  readonly db: Db;
  readonly machine: FakeMachine;
  /** Errors other than the end of a server. */
  readonly failures: unknown[];
  /** Ends the server at this step. */
  arm(fuse: Fuse): void;
  readonly ends: () => number;
  /** Runs on the current server, and again on the next one if it ends meanwhile: `work` must be idempotent. */
  on<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

export async function openCapacityFixture(stack: AsyncDisposableStack, gpus: number): Promise<CapacityFixture> {
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
  const deps = { pool, driver, failures, changes: await openChanges(database) };
  let server = startServer(deps);
  let ends = 0;
  stack.defer(() => server.stop());
  const replace = async (dead: Server) => {
    if (server !== dead) return;
    ends++;
    server = startServer(deps);
    await dead.stop();
    // Expires the killed worker's leases, which last ten seconds.
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
      server = startServer(deps, fuse);
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

interface ServerDeps {
  readonly pool: Pool;
  readonly driver: Driver;
  readonly changes: Changes;
  readonly failures: unknown[];
}

/** The loops that lease GPUs, reconcile environments and serve the queue. Payments have proofs of their own. */
function startServer({ pool, driver, changes, failures }: ServerDeps, fuse?: Fuse) {
  const gate = openGate(fuse);
  const db = fusedDatabase(pool, gate);
  const { log } = recordLog((error) => {
    if (!gate.isShut() && !(error instanceof Ended)) failures.push(error);
  });
  const drivers = new Map([[hostId, fused<Driver>(driver, gate)]]);
  const answers = async () => true;
  const loops = [
    startReconciler({
      ...{ db, changes, announce: announceByBell, log, retentionDays: 0, drivers, isReady: answers },
      delivery: freeDelivery,
    }),
    startWarmPool({ db, changes, drivers, isReady: answers, log, sizes: { jupyter: 2 } }),
    startQueueProcessor({ db, changes, announce: announceByBell, log }),
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

export type GpuRequest = Pick<HoldRequest, "orderId" | "userId" | "subdomain" | "gpuCount">;

let users = 0;
export function newGpuRequest(gpuCount: number): GpuRequest {
  const userId = `user-${++users}`;
  return { orderId: newId(), userId, subdomain: userId, gpuCount };
}

/** Like create_order: inserts the order and its hold in one transaction; idempotent. True if the GPUs are held. */
export async function create(fixture: CapacityFixture, request: GpuRequest): Promise<boolean> {
  const { orderId, userId, subdomain, gpuCount } = request;
  const write = (db: Db) =>
    db.transaction().execute(async (tx) => {
      await sql`
        insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
          currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at, due_at)
        values (${orderId}, ${userId}, 'paid', 'jupyter', ${subdomain}, ${gpuCount}, 24, 20, 20, 'USD', 8822, 'embedded',
          'embedded', ${orderId}, '', now(), now(), now(), now()) on conflict do nothing`.execute(tx);
      const holdUntil = new Date(Date.now() + 900_000);
      if (!(await renewHold(tx, { ...request, holdUntil })).ok) throw new Refused();
    });
  try {
    await fixture.on(write);
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}
