import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import type { Changes } from "../server/src/database/changes.ts";
import type { Connection } from "../server/src/database/connection.ts";
import type { Db } from "../server/src/database/database.ts";
import type { Driver } from "../server/src/drivers/driver.ts";
import { fakeDriver } from "../server/src/drivers/fake/fake-driver.ts";
import type { FakeMachine } from "../server/src/drivers/fake/fake-machine.ts";
import { type Announce, startReconciler } from "../server/src/environments/reconciler/start-reconciler.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { startOrderPoller } from "../server/src/payments/orders/order-poller.ts";
import type { PaymentsDeps } from "../server/src/payments/provider/payments-deps.ts";
import type { Provider } from "../server/src/payments/provider/provider.ts";
import { startRefundSender } from "../server/src/payments/refunds/refund-sender.ts";
import { delivery } from "../server/src/payments/settlement/delivery.ts";
import { startDisputePoller } from "../server/src/payments/settlement/dispute-poller.ts";
import { startWebhookProcessor } from "../server/src/payments/settlement/webhook-processor.ts";

/** Where a process ends: at its nth step out of itself, before the step or after it, with the answer lost. */
export interface Fuse {
  readonly step: number;
  readonly when: "before" | "after";
}

export interface World {
  readonly pool: Pool;
  readonly changes: Changes;
  readonly machine: FakeMachine;
  readonly provider: Provider;
  readonly announce: Announce;
}

export class Ended extends Error {}

/**
 * A server process in a model: every word to the database, the provider and the driver passes one gate, and once that
 * has shut nothing gets out any more. Whatever the code does about the failure it sees, no effect of it is real.
 */
export function startProcess(
  world: World,
  { fuse, starts = true, answers = true }: { fuse?: Fuse; starts?: boolean; answers?: boolean } = {},
) {
  const gate = openGate(fuse);
  const db = fusedDatabase(world.pool, gate);
  const provider = fused(world.provider, gate);
  const log = silentLogger;
  const payments: PaymentsDeps = {
    ...{ db, provider, log, changes: world.changes, announce: world.announce, webhookSecrets: [] },
    caps: { gpusPerUser: 1000, launchesPerUser: 1000, ordersPerMinute: 1_000_000, newcomerShare: 1 },
    brandName: "Berth",
    giveUpAfterSeconds: starts && answers ? 600 : 0.2,
  };
  const real = fakeDriver({ fail: starts ? 0 : 1 }, { machine: world.machine, install: "points" });
  const loops = [
    startReconciler({
      ...{ db, log, changes: world.changes, announce: world.announce, retentionDays: 30 },
      drivers: new Map([["local", fused<Driver>(real, gate)]]),
      delivery: delivery({ announce: world.announce }),
      isReady: async () => answers,
    }),
    startOrderPoller(payments),
    startRefundSender(payments),
    startWebhookProcessor(payments),
    startDisputePoller(payments),
  ];
  return {
    payments,
    /** Rejects once the process has ended. */
    ended: gate.shut,
    ending: gate.ending,
    steps: gate.steps,
    async stop() {
      gate.close();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

export type Process = ReturnType<typeof startProcess>;

export interface Gate {
  readonly shut: Promise<never>;
  readonly ending: AbortSignal;
  steps(): number;
  isShut(): boolean;
  close(): void;
  pass<T>(work: () => Promise<T>): Promise<T>;
}

export function openGate(fuse: Fuse | undefined): Gate {
  const { promise: shut, reject } = Promise.withResolvers<never>();
  shut.catch(() => {});
  let steps = 0;
  let closed = false;
  const ending = new AbortController();
  const close = () => {
    closed = true;
    ending.abort();
    reject(new Ended("the process has ended"));
  };
  const check = () => {
    if (closed) throw new Ended("the process has ended");
  };
  return {
    shut,
    ending: ending.signal,
    steps: () => steps,
    isShut: () => closed,
    close,
    async pass(work) {
      check();
      const now = ++steps;
      if (now === fuse?.step && fuse.when === "before") close();
      check();
      const result = await work();
      if (now === fuse?.step) close();
      check();
      return result;
    },
  };
}

/** A connection that was open when the process ended is cut: what it had not committed is undone. */
export function fusedDatabase(pool: Pool, gate: Gate): Db {
  return new Kysely({
    dialect: new PostgresDialect({
      pool: {
        async connect() {
          const client = await pool.connect();
          return {
            query: (...args: unknown[]) => gate.pass(() => Reflect.apply(client.query, client, args)),
            release: () => client.release(gate.isShut()),
          } as never;
        },
        end: async () => {},
      } as never,
    }),
  });
}

/** Every method that answers a promise passes the gate. */
export function fused<T extends object>(port: T, gate: Gate): T {
  return new Proxy(port, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function" || name === "verifyCallback" || name === "watch" || name === "logs") return value;
      return (...args: unknown[]) => gate.pass(async () => Reflect.apply(value, target, args));
    },
  });
}

export function openPool(connection: Connection, max: number): Pool {
  const pool = new Pool({ ...connection, max });
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  return pool;
}
