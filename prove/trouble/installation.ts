import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { openDatabase } from "../../server/src/database/database.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import type { Diagnosis } from "../../server/src/operator/doctor/diagnose.ts";
import { builtOperator } from "../../server/src/testing/built-programs.ts";
import { create, orderOf, pay, signUp, until } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";
import { type Product, startProduct } from "../../testing/product.ts";
import { type Fixture, openFixture } from "./fixture.ts";
import { openConsole } from "./operator-console.ts";
import { startPrometheus } from "./prometheus.ts";
import type { TroubleHost } from "./remote-host.ts";

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** The running product with a rental, a host on another machine, its console, and its metrics in a Prometheus. */
export async function openInstallation(stack: AsyncDisposableStack) {
  const around = await openFixture(stack);
  const { cluster, env, url } = around;
  const product = await startAll(around, stack);
  const database = await openDatabase(cluster.connection, silentLogger, { keep: true });
  stack.defer(database.close);
  const { db } = database;
  const backup = () => sql`select from backups where error is null and ended_at is not null`.execute(db);
  await until("a backup", async () => (await backup()).rows.length > 0, 120_000);
  const metrics = /Health checks are at http:\/\/(\S+)\/healthz/.exec(product.output())?.[1] ?? "";
  const [link = ""] = (await operate(env, "operators", "add", "ada@berth.example")).split("\n");
  return {
    ...around,
    db,
    /** SIGTERM and SIGKILL end it; nothing here may. */
    isAlive: () => process.kill(product.pid, 0),
    alerts: await startPrometheus(metrics, stack),
    console: await openConsole(link),
    doctor: () => askDoctor(env),
    titles: (await askDoctor(env)).titles,
    operate: (...words: string[]) => operate(env, ...words),
    /** An order that nobody pays, about which the provider is asked. */
    order: async (subdomain: string) => void (await orderOf(url, await signUp(url), { subdomain, duration: 6 })),
  };
}

/** Hosts on other machines are known from the next start on. */
async function startAll(around: Fixture, stack: AsyncDisposableStack): Promise<Product> {
  const { dataDir, env, host, log } = around;
  const started = { product: await startProduct({ dataDir, env, log }) };
  stack.defer(() => started.product.stop());
  await rent(around);
  if (!host) return started.product;
  await addHost(around, host);
  await started.product.stop();
  started.product = await startProduct({ dataDir, env, log });
  return started.product;
}

/** A type whose image is missed must have been rented. */
async function rent({ url, provider }: Fixture): Promise<void> {
  const customer = await signUp(url);
  const { body, order } = await orderOf(url, customer, { subdomain: "before", duration: 6 });
  const paid = { container_request: body.container_request, payment_data: await pay(provider.origin, order) };
  const { status, body: created } = await create(url, customer, paid);
  assert.equal(status, 200, JSON.stringify(created));
}

async function addHost({ env, dataDir }: Fixture, host: TroubleHost): Promise<void> {
  cpSync(join(host.keysOf("gpu-1"), "gpu-1"), join(dataDir, "hosts", "gpu-1"), { recursive: true });
  console.log(await operate(env, "hosts", "add", "gpu-1", host.url, "--home-root", host.homeRoot));
  await host.asRoot(await operate(env, "hosts", "firewall", "gpu-1", host.gateway));
}

type Settings = Fixture["env"];

/** A command of the operator, in a process of its own. @throws unless it ends with 0 */
async function operate(env: Settings, ...words: string[]): Promise<string> {
  const { stdout } = await run(env, words);
  return stdout;
}

interface Answer {
  /** Of all checks, by kind. */
  readonly titles: ReadonlyMap<string, string>;
  /** Kinds of what was found. */
  readonly found: ReadonlySet<string>;
  /** What it said instead. */
  readonly refusal: string;
}

/** `doctor --json`, which ends with 1 when it finds something. */
async function askDoctor(env: Settings): Promise<Answer> {
  const { stdout, stderr } = await run(env, ["doctor", "--json"]).catch((error: Output) => error);
  const { findings }: Pick<Diagnosis, "findings"> = stdout.startsWith("{") ? JSON.parse(stdout) : { findings: [] };
  const found = findings.filter(({ rows }) => rows.length > 0);
  const titles = new Map(findings.map(({ kind, what }) => [kind, what]));
  return { titles, found: new Set(found.map(({ kind }) => kind)), refusal: stderr };
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

function run(env: Settings, words: readonly string[]): Promise<Output> {
  return promisify(execFile)(process.execPath, [builtOperator, ...words], {
    env: { ...environment.shell, ENV_FILE: "", ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
}
