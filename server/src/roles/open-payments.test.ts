import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { openChanges } from "../database/changes.ts";
import { testDatabase } from "../database/testing.ts";
import { operatorPages } from "../http/operator-pages.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { createMetrics } from "../metrics/create-metrics.ts";
import { announceByBell } from "../notifications/notifications.ts";
import { embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import { openPayments } from "./open-payments.ts";

test("a worker without an API reaches the embedded provider, and its webhooks arrive (G189)", async () => {
  const database = await testDatabase();
  const { db } = database;
  const resources = new AsyncDisposableStack();
  onTestFinished(async () => {
    await resources.disposeAsync();
    await database.close();
  });
  const config = readConfig({ ROLES: "worker", DATABASE_URL: "postgres://h/d" });
  const local = operatorPages({ key: "a key", appUrl: "http://localhost" });
  const changes = await openChanges(database);
  const deps = { db, changes, announce: announceByBell, log: silentLogger, metrics: createMetrics(), local };
  // Nothing listens at this port.
  const { payments, embeddedProvider: own } = await openPayments(config, 1, deps, resources);
  if (!own) throw new Error("no embedded provider");
  const order = await payments.provider.createOrder({ amountMinor: 240, currency: "USD", receipt: "r", notes: {} });
  const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
  const paid = await fetch(`${own.address}${embeddedProviderPath}/payments/create/checkout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key_id: own.keyId, order_id: order.id, method: "card", card }),
  });
  expect(await paid.json()).toMatchObject({ razorpay_order_id: order.id });
  const sender = own.startWebhookSender(`${own.address}/webhooks/razorpay`, silentLogger);
  onTestFinished(sender.stop);
  const events = () => db.selectFrom("gateway_events").select("event").execute();
  await expect.poll(events, { timeout: 20_000 }).toContainEqual({ event: "order.paid" });
});
