import { defaultCatalogue } from "@berth/contract";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import type { Changes } from "../../server/src/database/changes.ts";
import type { Connection } from "../../server/src/database/connection.ts";
import type { Db } from "../../server/src/database/database.ts";
import type { Driver } from "../../server/src/drivers/driver.ts";
import { fakeDriver } from "../../server/src/drivers/fake/fake-driver.ts";
import type { FakeMachine } from "../../server/src/drivers/fake/fake-machine.ts";
import type { Announce } from "../../server/src/environments/notice.ts";
import { startReconciler } from "../../server/src/environments/reconciler/start-reconciler.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import { startOrderPoller } from "../../server/src/payments/orders/order-poller.ts";
import type { PaymentsDeps } from "../../server/src/payments/provider/payments-deps.ts";
import type { Provider } from "../../server/src/payments/provider/provider.ts";
import { startRefundSender } from "../../server/src/payments/refunds/refund-sender.ts";
import { delivery } from "../../server/src/payments/settlement/delivery.ts";
import { startDisputePoller } from "../../server/src/payments/settlement/dispute-poller.ts";
import { startWebhookProcessor } from "../../server/src/payments/settlement/webhook-processor.ts";

/** Ends a process at its nth external step, before the step, or after it with the result lost. */
export interface Fuse {
  readonly step: number;
  readonly when: "before" | "after";
}

export interface ProcessDeps {
  readonly pool: Pool;
  readonly changes: Changes;
  readonly machine: FakeMachine;
  readonly provider: Provider;
  readonly announce: Announce;
}

export class Ended extends Error {}

/**
 * A modelled server process: every call to the database, the provider and the driver passes one gate. Once the gate is
 * shut, every call fails without effect.
 */
export function startProcess(
  deps: ProcessDeps,
  { fuse, starts = true, answers = true }: { fuse?: Fuse; starts?: boolean; answers?: boolean } = {},
) {
  const gate = openGate(fuse);
  const db = fusedDatabase(deps.pool, gate);
  const provider = fused(deps.provider, gate);
  const log = silentLogger;
  const payments: PaymentsDeps = {
    ...{ db, provider, log, changes: deps.changes, announce: deps.announce, webhookSecrets: [] },
    caps: { gpusPerUser: 1000, launchesPerUser: 1000, ordersPerMinute: 1_000_000, newcomerShare: 1 },
    brandName: "Berth",
    catalogue: defaultCatalogue,
    giveUpAfterSeconds: starts && answers ? 600 : 0.2,
  };
  const real = fakeDriver({ fail: starts ? 0 : 1 }, { machine: deps.machine, install: "points" });
  const loops = [
    startReconciler({
      ...{ db, log, changes: deps.changes, announce: deps.announce, retentionDays: 30 },
      drivers: new Map([["local", fused<Driver>(real, gate)]]),
      delivery: delivery({ announce: deps.announce }),
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

/** Connections that are open when the process ends are cut, so PostgreSQL rolls back. */
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

/** A proxy whose asynchronous methods pass the gate. */
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
