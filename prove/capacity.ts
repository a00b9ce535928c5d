import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { releaseHold } from "../server/src/environments/allocation/hold.ts";
import { launch } from "../server/src/environments/allocation/launch.ts";
import { act, terminate } from "../server/src/environments/api/environment-actions.ts";
import { enterQueue, exitQueue } from "../server/src/environments/queue/join-queue.ts";
import { type Random, seeded } from "../server/src/testing/random.ts";
import { until } from "../testing/customer.ts";
import {
  type CapacityFixture,
  create,
  type GpuRequest,
  newGpuRequest,
  openCapacityFixture,
} from "./capacity-fixture.ts";
import { writeProof } from "./proof-page.ts";

const gpus = 6;
const buyers = 50;
const settleSeconds = 30;

interface Sum {
  granted: number;
  reservations: number;
  actions: number;
  longestSettleMs: number;
}

/**
 * Rounds of fifty creates racing for the last GPUs (P4). Before each race orders, launches, stops, starts, ends and
 * queue entries run concurrently while the server is killed at a random step. Once nothing is under way, only GPUs in use
 * may be leased. In the race the number of grants equals the number of free GPUs, with or without kills.
 */
export async function proveCapacity({ seed, rounds }: { seed: number; rounds: number }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const fixture = await openCapacityFixture(stack, gpus);
  const random = seeded(seed);
  const sum: Sum = { granted: 0, reservations: 0, actions: 0, longestSettleMs: 0 };
  const watching = setInterval(() => checkMachine(fixture), 5);
  stack.defer(() => clearInterval(watching));
  const began = performance.now();
  let held: readonly GpuRequest[] = [];
  for (let round = 1; round <= rounds; round++) {
    await disturb(fixture, random, held, sum);
    await settle(fixture, sum);
    held = await race(fixture, random, sum);
    if (round % 50 === 0) console.log(`${round} rounds, ${fixture.ends()} kills, ${sum.granted} granted`);
  }
  await settle(fixture, sum);
  assert.deepEqual(fixture.failures, []);
  const resumed = await sql<{
    n: number;
  }>`select count(*) as n from environments where warm and created_at is not null`.execute(fixture.db);
  const took = Math.round((performance.now() - began) / 1000);
  const text = `${rounds} rounds of ${buyers} creates for the last of ${gpus} GPUs, ${sum.actions} orders, launches, stops, starts, ends and queue entries before them, ${fixture.ends()} kills: 0 GPUs leased or used twice; exactly min(free, request) granted each time, ${sum.granted} in all, ${sum.reservations} of them to users of the queue; ${resumed.rows[0]?.n} launches resumed a warm run; 0 leaked, ${(sum.longestSettleMs / 1000).toFixed(1)} s until settled at most.`;
  writeProof("capacity", `\`npm run prove -- capacity --seed ${seed} --rounds ${rounds}\`: ${text}`);
  console.log(`${text} ${took} s`);
}

/** Runs every kind of action concurrently; the server may end in between. */
async function disturb(fixture: CapacityFixture, random: Random, held: readonly GpuRequest[], sum: Sum): Promise<void> {
  if (random.chance(0.5)) fixture.arm({ step: 1 + Math.floor(random() * 400), when: random.of(["before", "after"]) });
  const { rows } = await sql<{ id: string; userId: string; subdomain: string }>`
    select id, user_id as "userId", subdomain from environments where status <> 'terminated' order by id`.execute(
    fixture.db,
  );
  const work = [
    ...held.map((request) => () => (random.chance(0.7) ? pay(fixture, request) : undo(fixture, request))),
    ...rows.map((owned) => () => actOn(fixture, random, owned)),
    ...Array.from(
      { length: 8 },
      () => async () => void (await create(fixture, newGpuRequest(random.of([1, 1, 2, 4])))),
    ),
    ...Array.from({ length: 4 }, () => () => wait(fixture, random)),
  ];
  sum.actions += work.length;
  await Promise.all(work.map((each) => each().catch(refusal)));
}

/** Swallows the refusals that concurrent requests may get; rethrows everything else. */
function refusal(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (/^Not enough GPUs|cannot be|holds 0 of|does not hold the name/.test(message)) return;
  throw error;
}

async function pay(fixture: CapacityFixture, { orderId, userId, subdomain, gpuCount }: GpuRequest): Promise<void> {
  const now = new Date();
  const times = { orderedAt: now, paidAt: now, giveUpAt: new Date(now.getTime() + 600_000) };
  await fixture.on(async (db) => {
    const known = await db.selectFrom("environments").where("order_id", "=", orderId).select("id").executeTakeFirst();
    if (known) return;
    const request = { orderId, userId, subdomain, gpuCount, durationHours: 24, containerType: "jupyter", ...times };
    await db.transaction().execute((tx) => launch(tx, request));
  });
}

const undo = (fixture: CapacityFixture, { orderId }: GpuRequest) =>
  fixture.on((db) => db.transaction().execute((tx) => releaseHold(tx, orderId)));

interface Owned {
  readonly id: string;
  readonly userId: string;
  readonly subdomain: string;
}

async function actOn(fixture: CapacityFixture, random: Random, owned: Owned): Promise<void> {
  const action = random.of(["stop", "start", "restart", "pause", "expire", "terminate", "stop and start", "nothing"]);
  if (action === "nothing") return;
  if (action === "terminate") return fixture.on((db) => terminate(db, owned, owned.subdomain));
  if (action === "expire")
    return fixture.on(async (db) => {
      await sql`update environments set expires_at = now(), due_at = now() where id = ${owned.id} and expires_at is not null`.execute(
        db,
      );
    });
  if (action !== "stop and start") return fixture.on((db) => act(db, owned, action as "stop"));
  await fixture.on((db) => act(db, owned, "stop"));
  await sleep(random() * 60);
  await fixture.on((db) => act(db, owned, "start"));
}

async function wait(fixture: CapacityFixture, random: Random): Promise<void> {
  const { userId } = newGpuRequest(1);
  await fixture.on((db) => enterQueue(db, userId, random.of([1, 2, 4]), async () => {}));
  if (random.chance(0.3)) await fixture.on((db) => db.transaction().execute((tx) => exitQueue(tx, userId)));
}

/** Without new requests only GPUs in use stay leased, and every environment reaches its desired state. */
async function settle(fixture: CapacityFixture, sum: Sum): Promise<void> {
  const { db } = fixture;
  await fixture.on((now) => sql`select 1`.execute(now));
  const began = performance.now();
  const unpaid = await sql<{ id: string }>`
    select distinct holder_id as id from gpu_leases where holder_kind = 'order' and released_at is null`.execute(db);
  for (const { id } of unpaid.rows) await db.transaction().execute((tx) => releaseHold(tx, id));
  const entries = await sql<{ user_id: string }>`select user_id from queue_entries where closed_at is null`.execute(db);
  for (const { user_id } of entries.rows) await db.transaction().execute((tx) => exitQueue(tx, user_id));
  await until(
    "everything to settle",
    async () => {
      // Replaces a server that has ended.
      await fixture.on((now) => sql`select 1`.execute(now));
      return (await unsettled(fixture)) === 0;
    },
    settleSeconds * 1000,
  );
  checkMachine(fixture);
  sum.longestSettleMs = Math.max(sum.longestSettleMs, performance.now() - began);
}

/** Counts leases without use, use without a lease, environments not in their desired state, and orphans. */
async function unsettled({ db, machine }: CapacityFixture): Promise<number> {
  const { rows } = await sql<{ id: string; held: number; wants: number; settled: boolean; runs: boolean }>`
    select e.id, (select count(*) from gpu_leases where holder_kind = 'environment' and holder_id = e.id and released_at is null) as held,
      case when e.status in ('active', 'paused') then e.gpu_count else 0 end as wants, e.status in ('active', 'paused') as runs,
      (e.desired, e.status) in (('running', 'active'), ('stopped', 'stopped'), ('paused', 'paused'), ('paused', 'stopped')) as settled
    from environments e where e.status <> 'terminated'`.execute(db);
  const others = await sql`
    select 1 from gpu_leases l where released_at is null and not exists (
      select 1 from environments e where l.holder_kind = 'environment' and e.id = l.holder_id and e.status <> 'terminated')
      and not exists (select 1 from warm_runs w where l.holder_kind = 'pool' and w.id = l.holder_id and l.gpu_id = any(w.gpus))
    union all select 1 from warm_runs where state <> 'ready' or order_id is not null`.execute(db);
  const warm = await sql<{ id: string }>`select id from warm_runs`.execute(db);
  const running = [...rows.filter(({ runs }) => runs), ...warm.rows].map(({ id }) => id);
  const wrongRuns = machine.runs.size !== running.length || running.some((id) => !machine.runs.has(id));
  return (
    rows.filter(({ held, wants, settled }) => !settled || held !== wants).length +
    others.rows.length +
    Number(wrongRuns)
  );
}

/** Fails if two runs on the machine have the same GPU. */
function checkMachine({ machine }: CapacityFixture): void {
  const used = [...machine.runs.values()].filter(({ exit }) => !exit).flatMap(({ spec }) => spec.gpus);
  assert.equal(new Set(used).size, used.length, `a GPU runs twice: ${used.join(" ")}`);
}

/** Fifty concurrent requests, some of them from the queue: as many succeed as GPUs are free. Rereservations the unpaid holds. */
async function race(fixture: CapacityFixture, random: Random, sum: Sum): Promise<readonly GpuRequest[]> {
  const free = await freeGpus(fixture, 1 + Math.floor(random() * 2));
  if (random.chance(0.5)) fixture.arm({ step: 1 + Math.floor(random() * 600), when: random.of(["before", "after"]) });
  const all = Array.from({ length: buyers }, () => newGpuRequest(1));
  const queued = all.slice(0, random.of([0, 0, 3]));
  const buying = all.slice(queued.length);
  const enqueue = ({ userId }: GpuRequest) => fixture.on((db) => enterQueue(db, userId, 1, async () => {}));
  // Half of the time they queue before the others order.
  if (random.chance(0.5)) await Promise.all(queued.map(enqueue));
  const [answers] = await Promise.all([
    Promise.all(buying.map((request) => create(fixture, request))),
    ...queued.map(enqueue),
  ]);
  const { rows } = await sql<{ kind: string; holders: number; leases: number }>`
    select holder_kind as kind, count(distinct holder_id) as holders, count(*) as leases
    from gpu_leases where released_at is null and holder_kind in ('order', 'queue') group by holder_kind`.execute(
    fixture.db,
  );
  const held = buying.filter((_, index) => answers[index]);
  const reservations = rows.find(({ kind }) => kind === "queue")?.leases ?? 0;
  assert.equal(rows.find(({ kind }) => kind === "order")?.leases ?? 0, held.length, "every accepted order holds a GPU");
  // Users who queued before the last GPU was sold have a reservation; later ones wait.
  assert.equal(
    held.length + reservations,
    Math.min(free, buyers),
    `${free} were free, ${held.length} sold, ${reservations} reserved`,
  );
  sum.granted += held.length + reservations;
  sum.reservations += reservations;
  return held;
}

/** Terminates environments until `wanted` GPUs are free; rereservations how many are free. */
async function freeGpus(fixture: CapacityFixture, wanted: number): Promise<number> {
  const { db } = fixture;
  const free = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from gpus g where not exists (
        select 1 from gpu_leases where gpu_id = g.id and released_at is null and holder_kind <> 'pool')`.execute(db);
    return rows[0]?.n ?? 0;
  };
  const { rows } = await sql<Owned & { gpu_count: number }>`
    select id, user_id as "userId", subdomain, gpu_count from environments
    where status in ('active', 'paused') order by id`.execute(db);
  let count = await free();
  for (const owned of rows) {
    if (count >= wanted) break;
    await terminate(db, owned, owned.subdomain);
    count += owned.gpu_count;
  }
  return await until("free GPUs", async () => ((await free()) === count ? count : undefined), settleSeconds * 1000);
}
