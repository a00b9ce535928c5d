import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../database/database.ts";
import { operatorPages } from "../http/operator-pages.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { embeddedProvider, embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { containerRequest, orderBody } from "../testing/test-app.ts";

const keyId = "rzp_test_split";
const keySecret = "the secret of the provider";

/** A card payment provider of its own, as Razorpay is: with a database of its own too. */
async function provider(): Promise<string> {
  const { connection } = await emptyDatabase();
  const { db, close } = await openDatabase(connection, silentLogger);
  await sql`insert into embedded_gateway_account (key_id, key_secret) values (${keyId}, ${keySecret})`.execute(db);
  const app = Fastify({ forceCloseConnections: true });
  (await embeddedProvider({ db })).routes(app, operatorPages({ key: keySecret, appUrl: "http://localhost" }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(async () => {
    await app.close();
    await close();
  });
  return `${app.listeningOrigin}${embeddedProviderPath}`;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered
  readonly body: any;
}

async function call(
  port: number,
  method: string,
  path: string,
  options: Record<string, unknown> = {},
): Promise<Answer> {
  const { host = "localhost", token, body } = options as { host?: string; token?: string; body?: object };
  const sent = httpRequest({
    ...{ port, host: "127.0.0.1", method, path },
    headers: {
      host,
      ...(token && { authorization: token }),
      ...(body && { "content-type": "application/json" }),
    },
  });
  sent.end(body && JSON.stringify(body));
  const [answer] = await once(sent, "response");
  const content = await text(answer);
  const isJson = String(answer.headers["content-type"]).includes("json");
  return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(content) : content };
}

/** One process for each role, on one database, behind one address. */
async function split() {
  const { url: DATABASE_URL } = await emptyDatabase();
  const [apiPort, gatewayPort] = [await freePort(), await freePort()];
  const razorpay = { RAZORPAY_KEY_ID: keyId, RAZORPAY_KEY_SECRET: keySecret, RAZORPAY_URL: await provider() };
  const common = {
    ...{ DATABASE_URL, ...razorpay },
    ...{
      IDENTITY_SECRET: "one secret for all three of them",
      APP_URL: `http://localhost:${apiPort}`,
      METRICS_PORT: "0",
    },
  };
  const open = (ROLES: string, port = 0) => start({ ...common, DATA_DIR: dataFolder(), ROLES, PORT: String(port) });
  const worker = open("worker");
  await expect.poll(() => worker.said.out, { timeout: 60_000 }).toContain("Berth's worker is ready");
  const processes = { worker, api: open("api", apiPort), gateway: open("gateway", gatewayPort) };
  await processes.api.url();
  await processes.gateway.url();
  return { processes, apiPort, gatewayPort, providerUrl: razorpay.RAZORPAY_URL };
}

test("a notebook is rented from three processes of one role each, which answer for their own role only (G115)", async () => {
  const { processes, apiPort, gatewayPort, providerUrl } = await split();
  for (const { said } of Object.values(processes)) {
    const health = /Health checks are at (\S+)\/healthz/.exec(said.out)?.[1] ?? "";
    expect(health).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${health}/healthz`)).json()).toMatchObject({ status: "success" });
    expect(await (await fetch(`${health}/readyz`)).json()).toMatchObject({ status: "success" });
    expect((await fetch(`${health}/config`)).status, "nothing but health and metrics").toBe(404);
  }

  const account = { email: "ada@example.com", password: "good password 1", name: "Ada" };
  const { access_token } = (await call(apiPort, "POST", "/auth/signup", { body: account })).body;
  const signIn = "/identity/v1/accounts:signInWithCustomToken?key=local";
  const signedIn = { token: access_token, returnSecureToken: true };
  const { localId, idToken } = (await call(apiPort, "POST", signIn, { body: signedIn })).body;
  const token = `Bearer ${idToken}`;
  const request = { gpu_count: 4 } as const;
  const order = await call(apiPort, "POST", "/docker/payments/create_order", {
    token,
    body: orderBody(localId, request),
  });
  expect(order.body).toMatchObject({ status: "success", key_id: keyId });
  const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
  const paid = await fetch(`${providerUrl}/payments/create/checkout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key_id: keyId, order_id: order.body.id, method: "card", card }),
  });
  const body = { container_request: containerRequest(localId, request), payment_data: await paid.json() };
  const made = await call(apiPort, "POST", "/docker/environment/create", { token, body });
  expect(made.body, processes.worker.said.err).toMatchObject({ status: "active" });

  const host = `first-lab.localhost:${apiPort}`;
  const asOwner = { host, token: `token ${made.body.jupyter_token}` };
  expect((await call(gatewayPort, "GET", "/api", asOwner)).status).toBe(200);
  expect(await call(apiPort, "GET", "/api", asOwner)).toMatchObject({ status: 421, body: { code: "wrong_host" } });
  for (const path of ["/config", "/healthz", "/outbox", "/docker/payments/create_order"])
    expect(await call(gatewayPort, "GET", path)).toMatchObject({ status: 421, body: { code: "wrong_host" } });
  for (const { said } of Object.values(processes)) expect(said.err).toBe("");
}, 180_000);

test("a worker without METRICS_PORT logs how to read its health, and listens on no port", async () => {
  const { url: DATABASE_URL } = await emptyDatabase();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const { said, logged, child, ended } = start({
    ...{ DATABASE_URL, DATA_DIR: dataFolder(), ROLES: "worker", PORT: String(port) },
    ...{ RAZORPAY_KEY_ID: keyId, RAZORPAY_KEY_SECRET: keySecret, RAZORPAY_URL: await provider() },
  });
  await expect.poll(() => said.out, { timeout: 60_000 }).toContain("Berth's worker is ready");
  const msg = "A worker alone has no address: set METRICS_PORT for its /healthz and /readyz.";
  expect(logged()).toEqual([expect.objectContaining({ level: "warn", role: "worker", event: "setting.warning", msg })]);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
}, 90_000);
