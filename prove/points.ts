import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import Fastify from "fastify";
import { sql } from "kysely";
import { Client } from "pg";
import { openChanges } from "../server/src/database/changes.ts";
import type { Connection } from "../server/src/database/connection.ts";
import { openDatabase } from "../server/src/database/database.ts";
import { fakeDriver } from "../server/src/drivers/fake/fake-driver.ts";
import { fakeMachine } from "../server/src/drivers/fake/fake-machine.ts";
import { registerHost } from "../server/src/environments/hosts/register-host.ts";
import { operatorPages } from "../server/src/http/operator-pages.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { announceByBell } from "../server/src/notifications/notifications.ts";
import { embeddedProvider, embeddedProviderPath } from "../server/src/payments/embedded-provider/embedded-provider.ts";
import { brokenInvariants } from "../server/src/payments/ledger/invariants.ts";
import { razorpay } from "../server/src/payments/provider/razorpay.ts";
import { type Random, seeded } from "../server/src/testing/random.ts";
import { flows, type Scene, settle, timePasses, type Visit } from "./money/crash-point-flows.ts";
import { type Fuse, openPool, startProcess } from "./money/process-model.ts";
import { startCluster } from "./nodes/cluster.ts";
import { writeProof } from "./proof-page.ts";

/** Workers with a database each, so that their processes do not take each other's rows. */
const workers = 8;
/** Per worker; the sum is below the cluster's limit. */
const connections = 11;

/**
 * In every flow, ends a modelled process before and after each of its external steps, and starts the next one on the same
 * database, which may end too. Then every order must be delivered or refunded (P1).
 */
export async function provePoints({ seed, scenarios }: { seed: number; scenarios: number }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const connection = await startCluster(stack);
  const scenes = await Promise.all(Array.from({ length: workers }, (_, worker) => setScene(stack, connection, worker)));
  const [first = assert.fail()] = scenes;
  const lengths: Record<string, number> = {};
  for (const [name, flow] of Object.entries(flows)) lengths[name] = await measure(first, name, flow);
  const queue = plans(lengths, seeded(seed));
  const done = { scenarios: 0, ends: 0 };
  const playOn = async (scene: Scene) => {
    for (let number = ++done.scenarios; number <= scenarios; number = ++done.scenarios) {
      const { value } = queue.next();
      const ends = value ? await play(scene, { ...value, random: seeded(seed + number) }) : 0;
      done.ends += ends;
      if (number % 500 === 0) console.log(`${number} scenarios, ${done.ends} ends`);
      if (number % 100 < workers) assert.deepEqual(await brokenInvariants(scene.db), []);
    }
    assert.deepEqual(await brokenInvariants(scene.db), []);
  };
  await Promise.all(scenes.map(playOn));
  const steps = Object.entries(lengths).map(([name, length]) => `${name} ${length}`);
  writeProof(
    "points",
    `\`npm run prove -- points --seed ${seed} --scenarios ${scenarios}\`: a modelled process ends before and after every call to the database, the provider and the driver; from the second round on its successor ends too. ${scenarios} scenarios, ${done.ends} ends, 0 violations. Steps by flow: ${steps.join(", ")}.`,
  );
  console.log(`${scenarios} scenarios, ${done.ends} ends, 0 violations`);
}

/**
 * Every step of every flow in random order, repeated, so that a short run is a sample; from the second round on with a
 * second end at a random step.
 */
function* plans(lengths: Readonly<Record<string, number>>, random: Random): Generator<Pick<Play, "name" | "fuses">> {
  const sides = ["before", "after"] as const;
  const all = Object.entries(lengths).flatMap(([name, length]) =>
    Array.from({ length: 2 * length }, (_, at) => ({ name, step: 1 + (at >> 1), when: sides[at % 2 ? 1 : 0] })),
  );
  for (let round = 0; ; round++) {
    const drawn = all.map((plan) => ({ plan, at: random() })).toSorted((one, other) => one.at - other.at);
    for (const { plan } of drawn) {
      const { name, step, when } = plan;
      const again = round === 0 ? [] : [{ step: 1 + Math.floor(random() * 60), when: random.of(sides) }];
      yield { name, fuses: [{ step, when }, ...again] };
    }
  }
}

async function setScene(stack: AsyncDisposableStack, cluster: Connection, worker: number): Promise<Scene> {
  const admin = new Client(cluster);
  await admin.connect();
  await admin.query(`create database worker_${worker}`);
  await admin.end();
  const connection = { ...cluster, database: `worker_${worker}` };
  const database = await openDatabase(connection, silentLogger);
  stack.defer(() => database.close());
  const pool = openPool(connection, connections);
  stack.defer(() => pool.end());
  const { db } = database;
  const machine = fakeMachine();
  const driver = fakeDriver({}, { machine, install: "points" });
  stack.defer(() => driver.close());
  await registerHost(db, "local", driver, 64);
  await sql`insert into host_images (host_id, container_type, state, percent) values ('local', 'jupyter', 'ready', 100)`.execute(
    db,
  );
  const gateway = await embeddedProvider({ db, refundDelayMs: 0 });
  const app = Fastify({ forceCloseConnections: true });
  gateway.routes(app, operatorPages({ key: randomUUID(), appUrl: "http://localhost" }));
  await app.listen({ host: "127.0.0.1", port: 0 });
  stack.defer(() => app.close());
  const address = app.server.address();
  const gatewayUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}${embeddedProviderPath}`;
  const provider = razorpay({
    ...gateway,
    baseUrl: gatewayUrl,
    kind: "embedded",
    mode: "embedded",
    minimumMinor: { USD: 1, INR: 1 },
  });
  return {
    pool,
    changes: await openChanges(database),
    machine,
    provider,
    announce: announceByBell,
    db,
    gateway,
    gatewayUrl,
  };
}

type Flow = (visit: Visit) => Promise<unknown>;

/** The number of steps of a process that does not end early. */
async function measure(scene: Scene, name: string, flow: Flow): Promise<number> {
  const process = startProcess(scene, machineOf(name));
  const user = newUser();
  await flow({ scene, process, user });
  await settle(scene, user);
  await process.stop();
  return process.steps();
}

interface Play {
  readonly name: string;
  readonly fuses: readonly Fuse[];
  readonly random: Random;
}

/** Returns the number of ended processes. */
async function play(scene: Scene, { name, fuses, random }: Play): Promise<number> {
  const machine = machineOf(name);
  const user = newUser();
  let ends = 0;
  const visits: Promise<unknown>[] = [];
  for (const fuse of fuses) {
    const process = startProcess(scene, { fuse, ...machine });
    const visit = { scene, process, user };
    // The customer's browser may retry with the next process.
    const running = Promise.resolve(ends === 0 || random.chance(0.5) ? flows[name]?.(visit) : sleep(50)).catch(
      () => {},
    );
    visits.push(running);
    await Promise.race([running, process.ended.catch(() => {})]);
    await Promise.race([process.ended.catch(() => {}), settle(scene, user, 20).catch(() => {})]);
    await process.stop();
    ends++;
    await timePasses(scene, user);
  }
  // Pending payments of earlier processes arrive before the last process starts.
  await Promise.all(visits);
  const last = startProcess(scene, machine);
  try {
    await settle(scene, user);
    await check(scene, user, name);
  } catch (error) {
    throw new Error(`${name}, ${JSON.stringify(fuses)}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  } finally {
    await last.stop();
  }
  return ends;
}

const machineOf = (name: string) => ({ starts: name !== "never delivered", answers: name !== "silent" });

let users = 0;
function newUser(): string {
  return `customer-${++users}`;
}

/** Only granted refunds of delivered payments, full refunds of all others; after the rental no GPU is held. */
async function check(scene: Scene, user: string, name: string): Promise<void> {
  const { db } = scene;
  const { rows } = await sql<{ wrong: number }>`
    select count(*) filter (where p.id is null or g.refunded_minor <> case
        when p.settles_order and e.created_at is not null then granted
        else g.amount_minor - taken end) as wrong
    from embedded_gateway_payments g join orders o on o.gateway_order_id = g.order_id
    left join payments p on p.gateway_payment_id = g.id
    cross join lateral (select coalesce(sum(amount_minor), 0) as granted
      from refunds where payment_id = p.id
        and (reason in ('discretionary', 'external') or (o.extends is not null and reason = 'late_payment'))) discretion
    cross join lateral (select coalesce(sum(counted_minor), 0) as taken from disputes where payment_id = p.id) bank
    left join environments e on e.order_id = o.id or e.id = o.extends
    where o.user_id = ${user} and g.status = 'captured'`.execute(db);
  assert.equal(rows[0]?.wrong, 0, `${name}: a payment ended wrongly`);
  await sql`update environments set desired = 'terminated', due_at = now() where user_id = ${user}`.execute(db);
  await settle(scene, user);
  const held = await sql<{ count: number }>`select count(*) as count from gpu_leases l
    left join environments e on e.id = l.holder_id left join orders o on o.id = l.holder_id
    where l.released_at is null and coalesce(e.user_id, o.user_id) = ${user}`.execute(db);
  assert.equal(held.rows[0]?.count, 0, `${name}: GPUs are still held`);
}
