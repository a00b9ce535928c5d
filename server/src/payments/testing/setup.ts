import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { defaultCatalogue } from "@berth/contract";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import type { Loop } from "../../async/start-interval.ts";
import { openChanges } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { testDatabase } from "../../database/testing.ts";
import type { Driver, Endpoint } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import type { Announce } from "../../environments/notice.ts";
import { startReconciler } from "../../environments/reconciler/start-reconciler.ts";
import { handleErrors } from "../../http/handle-errors.ts";
import { operatorPages } from "../../http/operator-pages.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import {
  type EmbeddedProvider,
  embeddedProvider,
  embeddedProviderPath,
} from "../embedded-provider/embedded-provider.ts";
import { brokenInvariants } from "../ledger/invariants.ts";
import { startOrderPoller } from "../orders/order-poller.ts";
import { paymentRoutes } from "../orders/payment-routes.ts";
import { type Lane, type ProviderCalls, paceCalls } from "../provider/pace-calls.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import { razorpay } from "../provider/razorpay.ts";
import { startRefundSender } from "../refunds/refund-sender.ts";
import { delivery } from "../settlement/delivery.ts";
import { startPaymentSweep } from "../settlement/payment-sweep.ts";
import { startWebhookProcessor } from "../settlement/webhook-processor.ts";
import { bank } from "./bank.ts";
import { buyer } from "./buyer.ts";

/** Key for the provider's page of outcomes. */
export const operatorKey = "0123456789abcdef".repeat(4);

interface Options {
  readonly announce?: Announce;
  readonly slots?: number;
  readonly caps?: Partial<PaymentsDeps["caps"]>;
  readonly giveUpAfterSeconds?: number;
  /** Of the fake driver, such as `startMs`. */
  readonly fake?: Readonly<Record<string, number>>;
  readonly seller?: PaymentsDeps["seller"];
  readonly keys?: Partial<Parameters<typeof razorpay>[0]>;
  readonly database?: Parameters<typeof testDatabase>[0];
  /** Between the client and the embedded provider; returns the base URL to use. */
  readonly between?: (gatewayUrl: string) => Promise<string>;
}

const writeOnly: Announce = async (tx, { userId, ...notice }) => {
  const row = { id: newId(), user_id: userId, ...notice };
  await tx
    .insertInto("notifications")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
};

/** The payments modules on a real database and a real socket; only the driver is fake. */
export async function setup({
  slots = 8,
  caps,
  giveUpAfterSeconds = 600,
  fake = {},
  seller,
  keys,
  between,
  announce = writeOnly,
  database: databaseOptions,
}: Options = {}) {
  const database = await testDatabase(databaseOptions);
  const { db } = database;
  const changes = await openChanges(database);
  const gateway = await embeddedProvider({ db, refundDelayMs: 0 });
  const { log, lines, errors } = recordLog();
  let baseUrl = "";
  const embedded = { kind: "embedded", mode: "embedded", minimumMinor: { USD: 1, INR: 1 } } as const;
  const provider = razorpay({ baseUrl: () => baseUrl, ...gateway, ...embedded, log, ...keys });
  const calls = paceCalls(provider, { log });
  const payments: PaymentsDeps = {
    db,
    provider,
    webhookSecrets: ["the one before", gateway.webhookSecret],
    changes,
    announce,
    caps: { gpusPerUser: 8, launchesPerUser: 3, ordersPerMinute: 20, newcomerShare: 1, ...caps },
    ...{ brandName: "Berth", catalogue: defaultCatalogue },
    ...{ giveUpAfterSeconds, seller, log },
  };

  const app = serve(payments, gateway);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const gatewayUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${embeddedProviderPath}`;
  baseUrl = between ? await between(gatewayUrl) : gatewayUrl;

  const driver = await startHost(db, slots, fake);
  onTestFinished(async () => {
    expect(await brokenInvariants(db)).toEqual([]);
    await app.close();
    await driver.close();
    await database.close();
  });

  return {
    db,
    app,
    payments,
    provider,
    gateway,
    gatewayUrl,
    driver,
    errors,
    lines,
    ...loops(payments, calls, driver, gateway),
    ...buyer(app, payments),
    ...bank(payments, gatewayUrl, gateway),
  };
}

async function startHost(db: Db, slots: number, fake: Readonly<Record<string, number>>) {
  const driver = fakeDriver(fake);
  await registerHost(db, "local", driver, slots);
  const image = { host_id: "local", container_type: "jupyter", state: "ready" as const, percent: 100 };
  await db.insertInto("host_images").values(image).execute();
  return driver;
}

/** The loops of main.ts; a test starts those it needs. They are stopped before the server and the database. */
function loops(payments: PaymentsDeps, calls: ProviderCalls, driver: Driver, gateway: EmbeddedProvider) {
  const { db, changes, announce, log } = payments;
  const at = (lane: Lane) => ({ ...payments, provider: calls.at(lane) });
  const running: Loop[] = [];
  onTestFinished(async () => void (await Promise.all(running.map((loop) => loop.stop()))));
  return {
    runReconciler() {
      const drivers = new Map([["local", driver]]);
      const parts = {
        db,
        changes,
        drivers,
        delivery: delivery({ announce }),
        announce,
        isReady: answers,
        retentionDays: 30,
        log,
      };
      running.push(startReconciler(parts));
    },
    runOrderPoller: () => void running.push(startOrderPoller({ ...at("poll"), pollBudget: calls })),
    runRefundSender: () => void running.push(startRefundSender(at("refund"))),
    runPaymentSweep: () => void running.push(startPaymentSweep(at("payment"))),
    runWebhookProcessor: () => void running.push(startWebhookProcessor(at("payment"))),
    runWebhookSender: (url: string) => void running.push(gateway.startWebhookSender(url, log)),
    /** After a test has moved a time in the database, of which nobody is notified: the next pass is now. */
    wake() {
      for (const loop of running) loop.trigger();
    },
  };
}

function serve(payments: PaymentsDeps, gateway: EmbeddedProvider) {
  const app = Fastify({ forceCloseConnections: true });
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    const id = request.headers["x-user"];
    const emailVerified = request.headers["x-unverified"] === undefined;
    if (typeof id === "string")
      request.user = { id, email: `${id}@lab.example`, emailVerified, name: "", sessionId: null };
  });
  paymentRoutes(app, payments);
  gateway.routes(app, operatorPages({ key: operatorKey, appUrl: "http://localhost:3000" }));
  return app;
}

/** Inserts a hold without its dispute. */
export async function holdAccount(db: Db, userId: string): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`insert into account_holds (user_id, dispute_id) values (${userId}, 'lost')`.execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
  });
}

function answers(endpoint: Endpoint, token: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = { authorization: `token ${token}` };
  const request = httpRequest({ ...endpoint, path: "/api", headers }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  request.on("error", () => resolve(false)).end();
  return promise;
}
