import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Action } from "@berth/contract";
import { sql } from "kysely";
import { type Db, openDatabase, type RowOf } from "../server/src/database/database.ts";
import { embeddedConnection } from "../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { type Random, seeded } from "../server/src/testing/random.ts";
import { type Customer, create, orderAndPay, send, signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { labsOf, preparedJupyter } from "./labs.ts";
import { writeProof } from "./proof-page.ts";

type Environment = RowOf<"environments">;
/** Files that the owner has written: SHA-256 by file name. */
type Manifest = Map<string, string>;

interface HomeFixture {
  product: Product;
  readonly db: Db;
  readonly customer: Customer;
  readonly random: Random;
  readonly name: string;
  readonly manifest: Manifest;
  readonly done: Record<string, number>;
  /** A killed run; it may still answer once. */
  killed?: Pick<Environment, "id" | "generation">;
}

const workers = 2;
const stepsOfSequence = 5;
const folder = "kept";
/** Lifts the quotas that hours with one name would reach. */
const env = { GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100", LOG_LEVEL: "info" };

/**
 * Random sequences: the owner writes, deletes, pauses, stops, starts; JupyterLab is killed, the rental expires, the name
 * is rented again; the server is killed during any of it. After each step the files are exactly the written ones, byte by
 * byte (P5).
 */
export async function proveHomes({ seed, scenarios }: { seed: number; scenarios: number }): Promise<void> {
  const left = { sequences: scenarios };
  const results = await Promise.all(
    Array.from({ length: workers }, (_, worker) => runWorker(seed + worker, worker, left)),
  );
  const done: Record<string, number> = {};
  for (const fixture of results)
    for (const [name, count] of Object.entries(fixture)) done[name] = (done[name] ?? 0) + count;
  const counts = Object.entries(done).map(([name, count]) => `${name} ${count}`);
  const text = `${scenarios} sequences of ${stepsOfSequence} steps, 0 bytes lost. ${counts.join(", ")}.`;
  writeProof("homes", `\`npm run prove -- homes --seed ${seed} --scenarios ${scenarios}\`: ${text}`);
  console.log(text);
}

async function runWorker(seed: number, worker: number, left: { sequences: number }): Promise<Record<string, number>> {
  const dataDir = temporaryFolder();
  const product = await start(dataDir);
  const customer = await signUp(product.url);
  // Reconnects after each kill of the server.
  const { db, close } = await openDatabase(embeddedConnection(join(dataDir, "database")), silentLogger);
  const done: Record<string, number> = {};
  const random = seeded(seed);
  const fixture: HomeFixture = { product, db, customer, random, name: `home-${worker}`, manifest: new Map(), done };
  try {
    await preparedJupyter(product.url);
    for (let n = 1; left.sequences-- > 0; n++) {
      for (let step = 0; step < stepsOfSequence; step++) await takeStep(fixture);
      if (n % 25 === 0) console.log(`worker ${worker}: ${n} sequences, ${fixture.manifest.size} files`);
    }
  } catch (error) {
    const environment = await newest(fixture).catch((failure) => failure);
    console.error(`worker ${worker} failed; its data is in ${dataDir}, its newest environment:`, environment);
    throw error;
  } finally {
    await close();
    await fixture.product.stop();
  }
  removeFolder(dataDir);
  return done;
}

/** The log is in the data folder: a failed worker leaves both. */
const start = (dataDir: string, port = 0) => startProduct({ dataDir, port, env, log: join(dataDir, "server.log") });

type Step = (fixture: HomeFixture, environment: Environment) => Promise<unknown>;

const act =
  (action: Action): Step =>
  ({ product, customer: { userId, idToken } }, { id }) =>
    send(product.url, "POST", `/docker/${action}_container/${id}/${userId}`, { token: idToken });

const steps: Readonly<Record<string, Step>> = {
  write: (fixture, environment) => write(fixture, environment),
  delete: (fixture, environment) => remove(fixture, environment),
  pause: act("pause"),
  stop: act("stop"),
  restart: act("restart"),
  "kill JupyterLab": async (fixture, { id, generation }) => {
    for (const pid of labsOf(id)) {
      process.kill(pid, "SIGKILL");
      fixture.killed = { id, generation };
    }
  },
  "end its time": ({ db }, { id }) =>
    sql`update environments set expires_at = now(), due_at = now() where id = ${id}`.execute(db),
};

/** Possible next steps; likely ones are listed more than once. */
const stepsByStatus: Readonly<Record<string, readonly string[]>> = {
  active: ["write", "write", "write", "delete", "pause", "stop", "restart", "kill JupyterLab", "end its time"],
  paused: ["restart", "restart", "stop", "pause", "end its time"],
  stopped: ["restart", "restart", "stop"],
  terminated: ["rent"],
};

async function takeStep(fixture: HomeFixture): Promise<void> {
  const { random, done } = fixture;
  const before = await newest(fixture);
  const name = random.of(stepsByStatus[before?.status ?? "terminated"] ?? ["restart"]);
  const work = before && name !== "rent" ? () => steps[name]?.(fixture, before) : await rent(fixture);
  const working = Promise.resolve(work()).then(
    () => undefined,
    (error) => error,
  );
  done[name] = (done[name] ?? 0) + 1;
  if (random.chance(0.15)) {
    await sleep(random() * 400);
    await fixture.product.kill();
    await working;
    fixture.product = await start(fixture.product.dataDir, fixture.product.port);
    done["kill the server"] = (done["kill the server"] ?? 0) + 1;
  } else assert.ifError(await working);
  await until(`an end of "${name}"`, () => isSettled(fixture), 120_000);
  await compare(fixture, name);
}

/** Pays before the step begins: unpaid orders have a proof of their own. */
async function rent({ product, customer, name }: HomeFixture) {
  const paid = await orderAndPay(product.url, customer, { subdomain: name });
  return () => create(product.url, customer, paid);
}

/** The newest environment of the name. */
function newest({ db, name }: HomeFixture): Promise<Environment | undefined> {
  const rows = db.selectFrom("environments").selectAll().where("subdomain", "=", name);
  return rows.orderBy("requested_at", "desc").limit(1).executeTakeFirst();
}

/** A run that is killed while it is paused has lost its memory, so it becomes stopped. */
const settledAs = {
  running: ["active"],
  paused: ["paused", "stopped"],
  stopped: ["stopped"],
  terminated: ["terminated"],
} as const;

/** No open order, and the environment is in its desired state. A killed run has restarted. */
async function isSettled(fixture: HomeFixture): Promise<boolean> {
  const orders = fixture.db.selectFrom("orders").select("id").where("status", "in", ["open", "paid", "refunding"]);
  if (await orders.executeTakeFirst()) return false;
  const environment = await newest(fixture);
  if (!environment) return false;
  if (!settledAs[environment.desired].some((status) => status === environment.status)) return false;
  // Expired: the reconciler has yet to end it.
  if (environment.status !== "terminated" && environment.expires_at && environment.expires_at <= new Date())
    return false;
  if (environment.status !== "active") return true;
  if (fixture.killed?.id === environment.id && fixture.killed.generation === environment.generation) return false;
  return (await call(fixture, environment, "GET", "/api").catch(() => undefined))?.status === 200;
}

/** Fails if a file is lost or changed, or if a deleted one is back. */
async function compare(fixture: HomeFixture, after: string): Promise<void> {
  const { product, manifest } = fixture;
  const path = join(product.dataDir, "homes", (await newest(fixture))?.home ?? "", folder);
  // JupyterLab's checkpoints are dot-folders.
  const files = manifest.size === 0 ? [] : readdirSync(path).filter((entry) => !entry.startsWith("."));
  const actual = new Map(files.map((file) => [file, sha256(readFileSync(join(path, file)))]));
  assert.deepEqual(actual, manifest, `after "${after}", files differ`);
}

async function write(fixture: HomeFixture, environment: Environment): Promise<void> {
  const { random, manifest } = fixture;
  if (manifest.size === 0) await call(fixture, environment, "PUT", `/api/contents/${folder}`, { type: "directory" });
  const file = `file-${String(Math.floor(random() * 40)).padStart(2, "0")}`;
  const bytes = randomBytes(1 + Math.floor(random() * 60_000));
  const body = { type: "file", format: "base64", content: bytes.toString("base64") };
  await reconcileManifest(fixture, environment, file, async () => {
    const { status } = await call(fixture, environment, "PUT", `/api/contents/${folder}/${file}`, body);
    assert.ok(status === 200 || status === 201, `the file was refused: ${status}`);
    manifest.set(file, sha256(bytes));
  });
}

async function remove(fixture: HomeFixture, environment: Environment): Promise<void> {
  const { random, manifest } = fixture;
  const file = random.of([...manifest.keys()]);
  if (!file || manifest.size === 1) return;
  await reconcileManifest(fixture, environment, file, async () => {
    assert.equal((await call(fixture, environment, "DELETE", `/api/contents/${folder}/${file}`)).status, 204);
    manifest.delete(file);
  });
}

/** If the gateway is killed during the call, the disk shows whether JupyterLab did it. */
async function reconcileManifest(
  { product, manifest }: HomeFixture,
  { home }: Environment,
  file: string,
  work: () => Promise<void>,
) {
  try {
    await work();
  } catch (error) {
    await sleep(500);
    const path = join(product.dataDir, "homes", home, folder);
    const there = readdirSync(path).includes(file) ? sha256(readFileSync(join(path, file))) : undefined;
    if (there) manifest.set(file, there);
    else manifest.delete(file);
    throw error;
  }
}

async function call(
  { product: { port }, name }: HomeFixture,
  { secret }: Environment,
  method: string,
  path: string,
  body?: object,
) {
  const headers = {
    host: `${name}.localhost:${port}`,
    authorization: `token ${secret}`,
    "content-type": "application/json",
  };
  const sent = request({ host: "127.0.0.1", port, method, path, headers, timeout: 10_000 });
  sent.on("timeout", () => sent.destroy(new Error("timeout")));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  sent.on("error", reject);
  sent.on("response", (response) => void buffer(response).then(() => resolve(response.statusCode ?? 0), reject));
  sent.end(body && JSON.stringify(body));
  return { status: await promise };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
