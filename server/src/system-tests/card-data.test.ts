import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../database/database.ts";
import { embeddedConnection } from "../database/embedded/embedded.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import { type TypedCard, tracesInDatabase, tracesInLog } from "../payments/testing/card-traces.ts";
import { dataFolder, operatorKey, start } from "../testing/server-process.ts";
import { containerRequest, orderBody } from "../testing/test-app.ts";

/** Typed by a buyer: one that pays, one that fails, and a real one that never should have been. */
const secrets = { cvv: "9137", month: "11", year: "2093" };
const [good, failing, real] = ["5267318187975449", "5305620000050001", "4242424242424242"].map((number) => ({
  number,
  ...secrets,
})) as [TypedCard, TypedCard, TypedCard];
const cards = [good, failing, real];

/** The real server, telling all that it ever tells, and its database. */
async function open() {
  const folder = dataFolder();
  const { url, said } = start({ DATA_DIR: folder, LOG_LEVEL: "trace", GIVE_UP_AFTER: "60" });
  const address = (await url()).replace("localhost", "127.0.0.1");
  const database = await openDatabase(embeddedConnection(join(folder, "database")), silentLogger);
  onTestFinished(database.close);
  async function post(path: string, body: object | string, token?: string) {
    const response = await fetch(`${address}${path}`, {
      method: path.includes("/outcome?") ? "PUT" : "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: whatever is answered
    return { status: response.status, body: (await response.json()) as any };
  }
  const account = { email: "ada@example.com", password: "good password 1", name: "Ada" };
  const { access_token: token } = (await post("/auth/signup", account)).body;
  const signIn = "/identity/v1/accounts:signInWithCustomToken?key=local";
  const { localId, idToken } = (await post(signIn, { token, returnSecureToken: true })).body;
  const order = async (subdomain: string) => {
    const placed = await post("/docker/payments/create_order", orderBody(localId, { subdomain }), idToken);
    expect(placed.status, JSON.stringify(placed.body)).toBe(200);
    return placed.body as { id: string; key_id: string };
  };
  return {
    folder,
    log: () => said.out + said.err,
    db: database.db,
    order,
    pay: ({ id, key_id }: { id: string; key_id: string }, { number, cvv, month, year }: TypedCard) =>
      post(`${embeddedProviderPath}/payments/create/checkout`, {
        key_id,
        order_id: id,
        method: "card",
        card: { number, cvv, expiry_month: month, expiry_year: year },
      }),
    deliver: (subdomain: string, payment_data: object) =>
      post(
        "/docker/environment/create",
        { container_request: containerRequest(localId, { subdomain }), payment_data },
        idToken,
      ),
    choose: ({ id }: { id: string }, outcome: string) =>
      post(`${embeddedProviderPath}/test/orders/${id}/outcome?key=${operatorKey(folder)}`, { outcome }),
    post: (path: string, body: object | string) => post(path, body, idToken),
  };
}

test("nothing of a card is stored or logged, at any level, through purchases, failures and refunds", async () => {
  const { folder, log, db, order, pay, deliver, choose, post } = await open();
  const first = await order("first-lab");
  expect((await pay(first, failing)).body.error.reason).toBe("insufficient_fund");
  expect((await pay(first, real)).body.error.reason).toBe("invalid_card_number");
  await choose(first, "captured_twice");
  expect((await deliver("first-lab", (await pay(first, good)).body)).body.status).toBe("active");

  const second = await order("second-lab");
  await choose(second, "api_500");
  const { body: proof } = await pay(second, good);
  expect((await deliver("second-lab", proof)).status).toBe(503);
  expect((await deliver("second-lab", proof)).body.status).toBe("active");

  // Whole cards where none belongs: broken JSON, our own calls, an address.
  const typed = JSON.stringify({ number: real.number, cvv: real.cvv, expiry: "11/2093" });
  const checkout = `${embeddedProviderPath}/payments/create/checkout`;
  for (const [path, body] of [
    [checkout, `${typed.slice(0, -1)}, oops`],
    [checkout, { key_id: first.key_id, order_id: first.id, method: "card", card: typed }],
    ["/docker/environment/create", `{"card": ${typed}`],
    ["/docker/payments/create_order", { card: JSON.parse(typed) }],
    [`/docker/payments/clear/${real.number}?card=${encodeURIComponent(typed)}`, {}],
  ] as const)
    expect((await post(path, body)).status, path).toBeLessThan(500);

  const counts = sql<{ refunded: number; waiting: number; heard: number }>`select
    (select count(*) from refunds where status = 'processed') as refunded, (select count(*) from gateway_events) as heard,
    (select count(*) from gateway_events where processed_at is null) + (select count(*) from embedded_gateway_webhooks) as waiting`;
  await expect
    .poll(async () => (await counts.execute(db)).rows[0], { timeout: 20_000 })
    .toEqual({ refunded: 1, waiting: 0, heard: expect.any(Number) });
  const { rows } = await counts.execute(db);
  expect(rows[0]?.heard).toBeGreaterThan(5);

  expect(log()).toMatch(/"level":"warn".*SERVER_ERROR/);
  expect(tracesInLog(log(), cards)).toEqual([]);
  expect(await tracesInDatabase(db, cards)).toEqual([]);
  expect(
    filesWith(
      folder,
      cards.map(({ number }) => number),
    ),
  ).toEqual([]);
  // What may be kept is there, so the right tables were read.
  const kept = await db
    .selectFrom("payments")
    .select(["card_network", "card_last4"])
    .where("status", "=", "captured")
    .execute();
  expect(kept).toEqual(Array(3).fill({ card_network: "MasterCard", card_last4: "5449" }));
}, 60_000);

/** Also what is not read as text: the database's own files, with its log of changes. */
function filesWith(folder: string, numbers: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => {
      const bytes = readFileSync(path);
      return numbers.some((number) => bytes.includes(number));
    });
}
