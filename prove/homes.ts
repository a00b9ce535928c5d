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
import { embeddedConnection } from "../server/src/database/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { type Customer, create, orderAndPay, send, signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { labsOf, preparedJupyter } from "./labs.ts";
import { writeProof } from "./proof-page.ts";
import { type Random, seeded } from "./random.ts";

type Environment = RowOf<"environments">;
/** What the environment's owner knows to have written: SHA-256 by file name. */
type Manifest = Map<string, string>;

interface World {
  product: Product;
  readonly db: Db;
  readonly customer: Customer;
  readonly random: Random;
  readonly name: string;
  readonly manifest: Manifest;
  readonly done: Record<string, number>;
  /** A run that was killed: it may answer once more before it is gone. */
  killed?: Pick<Environment, "id" | "generation">;
}

const lanes = 2;
const stepsOfSequence = 5;
const folder = "kept";
/** What hours of one name would hold up. */
const env = { GPUS_PER_USER: "64", LAUNCHES_PER_USER: "100", LOG_LEVEL: "info" };

/**
 * Random sequences of what happens to an environment: its owner writes, deletes, pauses, stops, starts; JupyterLab is
 * killed, its time ends, another of the same name is rented; and the server is killed in the middle of any of it. After
 * each step every file is there as it was written, byte by byte, and none besides (P5).
 */
export async function proveHomes({ seed, scenarios }: { seed: number; scenarios: number }): Promise<void> {
  const left = { sequences: scenarios };
  const worlds = await Promise.all(Array.from({ length: lanes }, (_, lane) => playLane(seed + lane, lane, left)));
  const done: Record<string, number> = {};
  for (const world of worlds) for (const [name, count] of Object.entries(world)) done[name] = (done[name] ?? 0) + count;
  const counts = Object.entries(done).map(([name, count]) => `${name} ${count}`);
  const text = `${scenarios} sequences of ${stepsOfSequence} steps, 0 bytes lost. ${counts.join(", ")}.`;
  writeProof("homes", `\`npm run prove -- homes --seed ${seed} --scenarios ${scenarios}\`: ${text}`);
  console.log(text);
}

async function playLane(seed: number, lane: number, left: { sequences: number }): Promise<Record<string, number>> {
  const dataDir = temporaryFolder();
  const product = await start(dataDir);
  const customer = await signUp(product.url);
  // Its connections are lost with every server that is killed.
  const { db, close } = await openDatabase(embeddedConnection(join(dataDir, "database")), silentLogger);
  const done: Record<string, number> = {};
  const random = seeded(seed);
  const world: World = { product, db, customer, random, name: `home-${lane}`, manifest: new Map(), done };
  try {
    await preparedJupyter(product.url);
    for (let n = 1; left.sequences-- > 0; n++) {
      for (let step = 0; step < stepsOfSequence; step++) await takeStep(world);
      if (n % 25 === 0) console.log(`lane ${lane}: ${n} sequences, ${world.manifest.size} files`);
    }
  } catch (error) {
    const environment = await newest(world).catch((failure) => failure);
    console.error(`lane ${lane} left ${dataDir} as it is, its newest environment`, environment);
    throw error;
  } finally {
    await close();
    await world.product.stop();
  }
  removeFolder(dataDir);
  return done;
}

/** What it says is kept with its data: a lane that fails leaves both. */
const start = (dataDir: string, port = 0) => startProduct({ dataDir, port, env, log: join(dataDir, "server.log") });

type Step = (world: World, environment: Environment) => Promise<unknown>;

const act =
  (action: Action): Step =>
  ({ product, customer: { userId, idToken } }, { id }) =>
    send(product.url, "POST", `/docker/${action}_container/${id}/${userId}`, { token: idToken });

const steps: Readonly<Record<string, Step>> = {
  write: (world, environment) => write(world, environment),
  delete: (world, environment) => remove(world, environment),
  pause: act("pause"),
  stop: act("stop"),
  restart: act("restart"),
  "kill JupyterLab": async (world, { id, generation }) => {
    for (const pid of labsOf(id)) {
      process.kill(pid, "SIGKILL");
      world.killed = { id, generation };
    }
  },
  "end its time": ({ db }, { id }) =>
    sql`update environments set expires_at = now(), due_at = now() where id = ${id}`.execute(db),
};

/** What may happen next; the likely ones more than once. */
const stepsByStatus: Readonly<Record<string, readonly string[]>> = {
  active: ["write", "write", "write", "delete", "pause", "stop", "restart", "kill JupyterLab", "end its time"],
  paused: ["restart", "restart", "stop", "pause", "end its time"],
  stopped: ["restart", "restart", "stop"],
  terminated: ["rent"],
};

async function takeStep(world: World): Promise<void> {
  const { random, done } = world;
  const before = await newest(world);
  const name = random.of(stepsByStatus[before?.status ?? "terminated"] ?? ["restart"]);
  const work = before && name !== "rent" ? () => steps[name]?.(world, before) : await rent(world);
  const working = Promise.resolve(work()).then(
    () => undefined,
    (error) => error,
  );
  done[name] = (done[name] ?? 0) + 1;
  if (random.chance(0.15)) {
    await sleep(random() * 400);
    await world.product.kill();
    await working;
    world.product = await start(world.product.dataDir, world.product.port);
    done["kill the server"] = (done["kill the server"] ?? 0) + 1;
  } else assert.ifError(await working);
  await until(`an end of "${name}"`, () => isSettled(world), 120_000);
  await compare(world, name);
}

/** Once it is paid for: what an order without a payment comes to is another proof's. */
async function rent({ product, customer, name }: World) {
  const paid = await orderAndPay(product.url, customer, { subdomain: name });
  return () => create(product.url, customer, paid);
}

/** The newest environment of the name. */
function newest({ db, name }: World): Promise<Environment | undefined> {
  const rows = db.selectFrom("environments").selectAll().where("subdomain", "=", name);
  return rows.orderBy("requested_at", "desc").limit(1).executeTakeFirst();
}

/** A run that was killed as it was to be paused has no memory left to keep: it is stopped. */
const settledAs = {
  running: ["active"],
  paused: ["paused", "stopped"],
  stopped: ["stopped"],
  terminated: ["terminated"],
} as const;

/** Nothing is under way: no paid order waits, and what is wanted is what is. A run that was killed comes back first. */
async function isSettled(world: World): Promise<boolean> {
  const orders = world.db.selectFrom("orders").select("id").where("status", "in", ["open", "paid", "refunding"]);
  if (await orders.executeTakeFirst()) return false;
  const environment = await newest(world);
  if (!environment) return false;
  if (!settledAs[environment.desired].some((status) => status === environment.status)) return false;
  // Whose time is over is about to end, whatever the row still says.
  if (environment.status !== "terminated" && environment.expires_at && environment.expires_at <= new Date())
    return false;
  if (environment.status !== "active") return true;
  if (world.killed?.id === environment.id && world.killed.generation === environment.generation) return false;
  return (await call(world, environment, "GET", "/api").catch(() => undefined))?.status === 200;
}

/** Both ways: nothing is lost or changed, and nothing deleted has come back. */
async function compare(world: World, after: string): Promise<void> {
  const { product, manifest } = world;
  const path = join(product.dataDir, "homes", (await newest(world))?.home ?? "", folder);
  // JupyterLab keeps checkpoints of its own beside them.
  const files = manifest.size === 0 ? [] : readdirSync(path).filter((entry) => !entry.startsWith("."));
  const found = new Map(files.map((file) => [file, sha256(readFileSync(join(path, file)))]));
  assert.deepEqual(found, manifest, `after "${after}", files differ`);
}

async function write(world: World, environment: Environment): Promise<void> {
  const { random, manifest } = world;
  if (manifest.size === 0) await call(world, environment, "PUT", `/api/contents/${folder}`, { type: "directory" });
  const file = `file-${String(Math.floor(random() * 40)).padStart(2, "0")}`;
  const bytes = randomBytes(1 + Math.floor(random() * 60_000));
  const body = { type: "file", format: "base64", content: bytes.toString("base64") };
  await remember(world, environment, file, async () => {
    const { status } = await call(world, environment, "PUT", `/api/contents/${folder}/${file}`, body);
    assert.ok(status === 200 || status === 201, `the file was refused: ${status}`);
    manifest.set(file, sha256(bytes));
  });
}

async function remove(world: World, environment: Environment): Promise<void> {
  const { random, manifest } = world;
  const file = random.of([...manifest.keys()]);
  if (!file || manifest.size === 1) return;
  await remember(world, environment, file, async () => {
    assert.equal((await call(world, environment, "DELETE", `/api/contents/${folder}/${file}`)).status, 204);
    manifest.delete(file);
  });
}

/** When the gateway is killed in between, JupyterLab may have done it or not: then the disk says which. */
async function remember({ product, manifest }: World, { home }: Environment, file: string, work: () => Promise<void>) {
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
  { product: { port }, name }: World,
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
  sent.on("timeout", () => sent.destroy(new Error("no answer")));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  sent.on("error", reject);
  sent.on("response", (response) => void buffer(response).then(() => resolve(response.statusCode ?? 0), reject));
  sent.end(body && JSON.stringify(body));
  return { status: await promise };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
