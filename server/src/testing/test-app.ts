import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContainerRequest, defaultPrices, major, type Prices, quote } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import type { Loop } from "../async/start-interval.ts";
import { readConfig } from "../config/config.ts";
import { openChanges } from "../database/changes.ts";
import type { Database, Db } from "../database/database.ts";
import { testDatabase } from "../database/testing.ts";
import type { Driver } from "../drivers/driver.ts";
import { fakeDriver } from "../drivers/fake/fake-driver.ts";
import type { FakeMachine } from "../drivers/fake/fake-machine.ts";
import { revokeAccess } from "../environments/api/revoke-access.ts";
import { registerHost } from "../environments/hosts/register-host.ts";
import { startReconciler } from "../environments/reconciler/start-reconciler.ts";
import { probeReadiness } from "../gateway/forward/probe-readiness.ts";
import { createGateway } from "../gateway/gateway.ts";
import { trustedProxies } from "../http/client-address.ts";
import { operatorPages } from "../http/operator-pages.ts";
import { localIdentity } from "../identity/local/local-identity.ts";
import type { Logger } from "../logging/create-logger.ts";
import { recordLog } from "../logging/testing/record-log.ts";
import { createMetrics } from "../metrics/create-metrics.ts";
import { announcer } from "../notifications/announcer.ts";
import { embeddedProvider, embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import type { PaymentsDeps } from "../payments/provider/payments-deps.ts";
import { razorpay } from "../payments/provider/razorpay.ts";
import { delivery } from "../payments/settlement/delivery.ts";
import { type AppDeps, buildApp } from "../roles/build-app.ts";
import { listRoutes } from "./list-routes.ts";

export const appUrl = "http://localhost:3000";
const announce = announcer({ appUrl, brandName: "Berth" });
export const secret = Buffer.from("a secret of the test, long enough");

export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
}

export type TestApp = Awaited<ReturnType<typeof testApp>>;

interface TestAppOptions {
  readonly database?: Database & AsyncDisposable;
  readonly fake?: Record<string, number>;
  /** That of another replica, which has registered it. */
  readonly machine?: FakeMachine | undefined;
  readonly jumpHost?: AppDeps["jumpHost"];
}

/** The whole product on a real database with the fake driver. Without rate limits unless `env` sets them. */
export async function testApp(
  env: Record<string, string> = {},
  { database: given, fake = {}, machine, jumpHost }: TestAppOptions = {},
) {
  const database = given ?? (await testDatabase());
  const { db } = database;
  const { log, lines, errors } = recordLog();
  const requests = recordLog();
  const changes = await openChanges(database);
  const config = readConfig({ LOG_LEVEL: "silent", ...unlimited, ...env });
  let address = "";
  const { own, payments } = await moneyOf({ db, changes, announce, log }, config, () => address);
  const host = await addHost(db, fake, machine);
  const metrics = createMetrics();
  const deps = { metrics, config, db, changes, payments, embeddedProvider: own, drivers: host.drivers, jumpHost };
  const { listen } = database;
  const { app, gateway, identity, routes } = await openApp({ ...deps, listen, log: requests.log }, log);
  await app.listen({ port: 0, host: "127.0.0.1" });
  address = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  onTestFinished(async () => {
    const closeDriver = machine ? async () => {} : host.driver.close;
    for (const end of [host.stop, () => app.close(), gateway.close, closeDriver, database.close]) await end();
  });

  return {
    app,
    gateway,
    own,
    url: address,
    db,
    database,
    config,
    identity,
    payments,
    driver: host.driver,
    metrics,
    /** All mounted routes, without the HEAD of each GET. */
    routes,
    /** Logged errors except those of requests. */
    errors,
    /** All lines of the log. */
    lines: () => [...lines, ...requests.lines],
    ...customers(app),
    rows: () => everyRow(database.db),
    /** Starts the reconciler, which delivers paid orders; returns its stop function. */
    deliver: () =>
      host.deliver({ db, changes, announce, isReady: probeReadiness, retentionDays: config.retentionDays, log }),
  };
}

type OpenAppDeps = Pick<
  AppDeps,
  "metrics" | "config" | "log" | "db" | "changes" | "payments" | "embeddedProvider" | "drivers" | "jumpHost"
>;

/** The app with a gateway and the local identity provider; `routes` are all that were mounted. */
async function openApp({ listen, ...deps }: OpenAppDeps & Pick<Database, "listen">, log: Logger) {
  const { config, db, changes } = deps;
  const identity = localIdentity({ db, secret, appUrl, limits: config.limits, announce, endRights: revokeAccess });
  const trustProxy = trustedProxies(config.trustProxy);
  const gateway = await createGateway({ db, changes, listen, appUrl, envHost: "localhost", secret, trustProxy, log });
  const dist = makeDist();
  onTestFinished(() => rmSync(dist, { recursive: true }));
  const stopListing = listRoutes();
  const app = await buildApp({
    ...deps,
    appUrl,
    secret,
    identity,
    hosts: gateway.hosts,
    gateway,
    disk: async () => "ok",
    local: operatorPages({ key: secret.toString("hex"), appUrl }),
    betaEndsAt: new Date(),
    dist,
  });
  return { app, gateway, identity, routes: stopListing() };
}

async function moneyOf(
  deps: Pick<PaymentsDeps, "db" | "changes" | "announce" | "log">,
  { caps, catalogue, giveUpAfterSeconds, brand, seller }: ReturnType<typeof readConfig>,
  address: () => string,
) {
  const own = await embeddedProvider({ db: deps.db, refundDelayMs: 0 });
  const baseUrl = () => `${address()}${embeddedProviderPath}`;
  const provider = razorpay({ ...own, baseUrl, kind: "embedded", mode: "embedded", minimumMinor: { USD: 1, INR: 1 } });
  const webhookSecrets = [own.webhookSecret];
  const sale = { caps, catalogue, brandName: brand.name, giveUpAfterSeconds, seller };
  const payments = { ...deps, provider, webhookSecrets, ...sale };
  return { own, payments };
}

/** The files of a build that the server reads. */
function makeDist(): string {
  const dist = mkdtempSync(join(tmpdir(), "berth-dist-"));
  for (const file of ["index.html", "shell.html", "favicon.svg"])
    writeFileSync(join(dist, file), `<title>${file}</title>`);
  mkdirSync(join(dist, ".draw"));
  writeFileSync(
    join(dist, ".draw", "draw-pages.js"),
    'export const drawPages = async () => ({ description: "", markup: {} });',
  );
  return dist;
}

type Reconciled = Omit<Parameters<typeof startReconciler>[0], "drivers" | "delivery">;

async function addHost(db: Db, fake: Record<string, number>, machine: FakeMachine | undefined) {
  const id = "local";
  const driver = fakeDriver(fake, machine && { machine });
  const drivers: ReadonlyMap<string, Driver> = new Map([[id, driver]]);
  const image = { host_id: id, container_type: "jupyter", state: "ready" as const, percent: 100 };
  if (!machine) {
    await registerHost(db, id, driver, 8);
    await db.insertInto("host_images").values(image).execute();
  }
  const loops: Loop[] = [];
  return {
    driver,
    drivers,
    deliver(deps: Reconciled) {
      const loop = startReconciler({ ...deps, drivers, delivery: delivery({ announce }) });
      loops.push(loop);
      return loop.stop;
    },
    async stop() {
      for (const loop of loops) await loop.stop();
    },
  };
}

/** All rows of all tables as text, to compare before and after. Without rate limit counters, which change on failures too. */
export async function everyRow(db: Db): Promise<Record<string, string>> {
  const names = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name <> 'attempt_windows'`.execute(db);
  const queries = names.rows.map(
    ({ name }) =>
      sql`select ${name} as name, string_agg(r::text, E'\n' order by r::text) as rows from ${sql.table(name)} r`,
  );
  const { rows } = await sql<{ name: string; rows: string | null }>`${sql.join(queries, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows ?? ""]));
}

const unlimited = {
  REQUESTS_PER_MINUTE: "1000000",
  ANONYMOUS_PER_MINUTE: "1000000",
  UNAUTHENTICATED_PER_MINUTE: "1000000",
  SIGN_INS_PER_MINUTE: "1000000",
  RESET_MAILS_PER_HOUR: "1000000",
  NEWCOMER_SHARE: "1",
  NETWORK_MAILS_PER_HOUR: "1000000",
  NETWORK_MAILS_PER_DAY: "1000000",
};

let users = 0;

/** A customer's calls, from sign-up to a running environment. */
export function customers(app: Pick<FastifyInstance, "inject">) {
  const call = (method: "GET" | "POST" | "PUT" | "DELETE", url: string, token?: string, payload?: unknown) =>
    app.inject({
      method,
      url,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { "content-type": "application/json" }),
      },
      ...(payload !== undefined && { payload: typeof payload === "string" ? payload : JSON.stringify(payload) }),
    });
  const must = async (...args: Parameters<typeof call>) => {
    const reply = await call(...args);
    expect(reply.statusCode, `${args[1]}: ${reply.body}`).toBe(200);
    return reply.json();
  };

  async function signUp(name = "Ada"): Promise<TestUser> {
    const email = `customer-${users++}@example.com`;
    const { access_token } = await must("POST", "/auth/signup", undefined, {
      email,
      password: "good password 1",
      name,
    });
    const url = "/identity/v1/accounts:signInWithCustomToken?key=local";
    const tokens = await must("POST", url, undefined, { token: access_token, returnSecureToken: true });
    return { id: tokens.localId, email, token: tokens.idToken, refreshToken: tokens.refreshToken };
  }

  async function order(user: TestUser, change: Partial<ContainerRequest> = {}) {
    return must("POST", "/docker/payments/create_order", user.token, orderBody(user.id, change));
  }

  async function pay({ key_id, id: order_id }: { key_id: string; id: string }) {
    const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
    const url = `${embeddedProviderPath}/payments/create/checkout`;
    return must("POST", url, undefined, { key_id, order_id, method: "card", card });
  }

  return {
    call,
    must,
    signUp,
    order,
    pay,
    /** Orders, pays and waits for the environment: `deliver` must run. */
    async rent(user: TestUser, change: Partial<ContainerRequest> = {}) {
      const payment_data = await pay(await order(user, change));
      const container_request = containerRequest(user.id, change);
      const made = await must("POST", "/docker/environment/create", user.token, { container_request, payment_data });
      expect(made.status).toBe("active");
      return { ...made, payment_data } as { environment_id: string; jupyter_token: string; payment_data: Proof };
    },
  };
}

interface Proof {
  readonly razorpay_order_id: string;
  readonly razorpay_payment_id: string;
  readonly razorpay_signature: string;
}

export function containerRequest(user_id: string, change: Partial<ContainerRequest> = {}): ContainerRequest {
  return { user_id, container_type: "jupyter", subdomain: "first-lab", gpu_count: 2, duration: 1, ...change };
}

/** By default the built-in prices, in dollars. */
export interface Sale {
  readonly prices?: Prices;
  readonly currency?: string;
}

/** The body of create_order with the correct price. */
export function orderBody(
  user_id: string,
  change: Partial<ContainerRequest> = {},
  { prices = defaultPrices, currency = "USD" }: Sale = {},
) {
  const container_request = containerRequest(user_id, change);
  const { gpu_count, duration } = container_request;
  const amount = major(quote(prices, gpu_count, duration, currency).amountMinor);
  return { container_request, payment_request: { amount, currency, user_id, container_request } };
}
