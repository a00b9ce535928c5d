import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { createGatewayCounts } from "../gateway/access/gateway-counts.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { testApp } from "../testing/test-app.ts";
import { createMetrics, type Metrics } from "./create-metrics.ts";
import { gatewayCollector } from "./gateway-collector.ts";
import { startMetrics } from "./start-metrics.ts";
import { scrape } from "./testing/scrape.ts";

async function setup({ isWorker = true } = {}) {
  const product = await testApp();
  const { provider } = product.payments;
  const open = async (of: Metrics, token?: string) => {
    const metrics = await startMetrics({
      token,
      currencies: ["USD", "INR"],
      ...{ port: 0, version: "1.2.3", disk: async () => "ok" as const, db: product.db, pool: product.database.pool },
      ...{ metrics: of, gateway: undefined },
      settings: { appUrl: "http://localhost:3000", envHost: "localhost", dataDir: "/" },
      backup: undefined,
      queues: isWorker ? { provider, sendsMail: true, hasHostedAccounts: false } : undefined,
      keepMs: 0,
    });
    onTestFinished(metrics.close);
    return metrics.url;
  };
  const metricsUrl = await open(product.metrics);
  /** Of a second process. */
  const readAnother = async () => {
    const url = await open(createMetrics());
    return () => scrape(url);
  };
  return { ...product, metricsUrl, read: () => scrape(metricsUrl), readAnother, open };
}

test("with METRICS_TOKEN /metrics asks for it, and the health checks do not", async () => {
  const { open } = await setup();
  const url = await open(createMetrics(), "sixteen-letters-at-least");
  const statusOf = async (path: string, authorization = "") =>
    (await fetch(`${url}${path}`, { headers: { authorization } })).status;
  for (const wrong of ["", "Bearer ", "Bearer sixteen-letters-at-leas", "Basic sixteen-letters-at-least"])
    expect(await statusOf("/metrics", wrong)).toBe(401);
  expect(await statusOf("/metrics", "Bearer sixteen-letters-at-least")).toBe(200);
  for (const path of ["/healthz", "/readyz"]) expect(await statusOf(path)).toBe(200);
});

test("a paid launch is counted: request, money, environment, GPUs and the time of each stage", async () => {
  const { read, signUp, rent, deliver, url } = await setup();
  const before = await read();
  expect(before.get('berth_gpus{host="local",state="free"}')).toBe(8);
  expect(before.get('berth_money_minor_total{kind="paid",currency="USD"}')).toBe(0);
  deliver();
  await rent(await signUp());
  await fetch(`${url}/config`);
  await expect.poll(async () => (await read()).get('berth_money_minor_total{kind="paid",currency="USD"}')).toBe(40);
  const after = await read();
  const of = (series: string) => after.get(series);
  expect(of('berth_gpus{host="local",state="leased"}')).toBe(2);
  expect(of('berth_gpus{host="local",state="free"}')).toBe(6);
  expect(of('berth_environments{status="active"}')).toBe(1);
  expect(of('berth_orders{status="open"}')).toBe(0);
  expect(of('berth_launch_seconds_count{stage="ready",warm="no"}')).toBe(1);
  expect(of('berth_launch_seconds_bucket{le="+Inf",stage="ready",warm="no"}')).toBe(1);
  expect(of('berth_http_requests_total{method="GET",route="/config",status="2xx"}')).toBe(1);
  expect(of("berth_database_up")).toBe(1);
  expect(of('berth_database_pool_connections{state="idle"}')).toBeGreaterThan(0);
  expect(of('berth_disk_free_ratio{of="data"}')).toBeGreaterThan(0);
  expect(of("berth_host_cpu_load")).toBeGreaterThanOrEqual(0);
  expect(of("berth_host_memory_free_ratio")).toBeGreaterThan(0);
  expect(Math.abs(of("berth_clock_offset_seconds") ?? 99)).toBeLessThan(1);
  expect(of("berth_nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
});

test("money is that of the whole ledger at each worker, from before its start and before its first scrape too", async () => {
  const { read, readAnother, payments, signUp, order, pay } = await setup();
  const sell = async (subdomain: string) => {
    const { razorpay_payment_id } = await pay(await order(await signUp(), { subdomain }));
    await settlePayment(payments, await payments.provider.payment(razorpay_payment_id));
  };
  const paid = (samples: ReadonlyMap<string, number>) =>
    samples.get('berth_money_minor_total{kind="paid",currency="USD"}');
  await sell("first");
  await expect.poll(async () => paid(await read())).toBe(40);
  const another = await readAnother();
  await expect.poll(async () => paid(await another())).toBe(40);
  await sell("second");
  for (const each of [read, another]) await expect.poll(async () => paid(await each())).toBe(80);
});

test("every metric is named berth_ with a help text, counters end in _total, and no label has data of a user", async () => {
  const { metricsUrl, signUp, rent, deliver } = await setup();
  deliver();
  const ada = await signUp();
  const { environment_id, jupyter_token } = await rent(ada);
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  expect(types.length).toBeGreaterThan(40);
  for (const [, name = "", type] of types) {
    expect(name).toMatch(/^berth_[a-z_0-9]+$/);
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, "m"));
    if (!/^berth_(nodejs|process)_/.test(name)) expect(name.endsWith("_total"), name).toBe(type === "counter");
  }
  for (const secret of [ada.id, ada.email, environment_id, jupyter_token, "first-lab"])
    expect(text).not.toContain(secret);
});

test("docs/operate/monitor.md names exactly the metrics that there are", async () => {
  const { metricsUrl, metrics } = await setup();
  gatewayCollector({ metrics, gateway: { counts: createGatewayCounts(), openSockets: 0 } });
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const own = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
  const page = await readFile(fileURLToPath(new URL("../../../docs/operate/monitor.md", import.meta.url)), "utf8");
  const named = [...page.matchAll(/^\| (`berth_[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    cell.match(/berth_[a-z_]+[a-z]/g),
  );
  const isOwn = (name: string | null) => !/^berth_(nodejs|process)(_|$)/.test(name ?? "");
  expect(named.filter(isOwn).toSorted()).toEqual(own.filter(isOwn).toSorted());
});

test("a process without the worker's role exports what it counts itself, and whether it reaches the database", async () => {
  const { read } = await setup({ isWorker: false });
  const names = [...(await read()).keys()];
  expect(names).toContain("berth_database_up");
  expect(names.filter((name) => /^berth_(gpus|orders|queue|money_waiting|certificate)/.test(name))).toEqual([]);
});

test("without its database /metrics answers with berth_database_up 0 and without the database's gauges", async () => {
  const { metricsUrl, database, read } = await setup();
  await database.close();
  const samples = await read();
  expect(samples.get("berth_database_up")).toBe(0);
  expect(samples.has("berth_clock_offset_seconds")).toBe(false);
  expect([...samples.keys()].filter((name) => /^berth_(gpus|orders|queue|environments)/.test(name))).toEqual([]);
  expect((await fetch(`${metricsUrl}/healthz`)).status).toBe(200);
  expect((await fetch(`${metricsUrl}/readyz`)).status).toBe(503);
});

test("another address than loopback is opened only where it is asked for", async () => {
  const { database, db, metrics, metricsUrl } = await setup();
  expect(new URL(metricsUrl).hostname).toBe("127.0.0.1");
  const { registry } = createMetrics();
  const other = await startMetrics({
    ...{ port: 0, host: "127.0.0.2", version: "1", disk: async () => "ok" as const, db, pool: database.pool },
    ...{ metrics: { ...metrics, registry }, gateway: undefined, queues: undefined, currencies: [], backup: undefined },
    settings: { appUrl: "http://localhost:3000", envHost: "localhost", dataDir: "/" },
  });
  onTestFinished(other.close);
  expect(new URL(other.url).hostname).toBe("127.0.0.2");
  expect((await scrape(other.url)).get("berth_database_up")).toBe(1);
});

test("money that waits is a gauge by what it waits for; what the ledger books is counted once", async () => {
  const { db, read, payments, signUp, order, pay } = await setup();
  await read();
  const paid = await pay(await order(await signUp()));
  await settlePayment(payments, await payments.provider.payment(paid.razorpay_payment_id));
  const of = async (series: string) => (await read()).get(series);
  await expect.poll(() => of('berth_orders{status="paid"}')).toBe(1);
  expect(await of('berth_money_waiting_minor{kind="delivery",currency="USD"}')).toBe(40);
  await sql`insert into refunds (id, payment_id, amount_minor, currency, reason, status, due_at, created_at)
    select 'r', id, 15, 'USD', 'hardware', 'queued', now() - interval '1 hour', now() - interval '2 hours' from payments`.execute(
    db,
  );
  await expect.poll(() => of('berth_money_waiting_minor{kind="refund_unsent",currency="USD"}')).toBe(15);
  const samples = await read();
  expect(samples.get('berth_money_waiting_oldest_seconds{kind="refund_unsent",currency="USD"}')).toBeGreaterThan(7190);
  expect(samples.get('berth_queue_due_rows{queue="refunds"}')).toBe(1);
  expect(samples.get('berth_queue_oldest_due_seconds{queue="refunds"}')).toBeGreaterThan(3590);
  expect(samples.get('berth_queue_due_rows{queue="mails"}')).toBe(0);
  expect(samples.get('berth_money_minor_total{kind="paid",currency="USD"}')).toBe(40);
});
