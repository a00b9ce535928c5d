import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { releaseHold } from "../server/src/environments/allocation/hold.ts";
import { launch } from "../server/src/environments/allocation/launch.ts";
import { act, terminate } from "../server/src/environments/api/environment-actions.ts";
import { enterQueue, exitQueue } from "../server/src/environments/queue/join-queue.ts";
import { until } from "../testing/customer.ts";
import { type Asked, create, newAsker, openWorld, type World } from "./capacity-fixture.ts";
import { writeProof } from "./proof-page.ts";
import { type Random, seeded } from "./random.ts";

const gpus = 6;
const askers = 50;
const quietSeconds = 30;

interface Sum {
  granted: number;
  turns: number;
  chaos: number;
  longestQuietMs: number;
}

/**
 * Rounds of fifty creates racing for the last GPUs (P4). Before each race everything happens at once: orders, launches,
 * stops, starts, ends, places in line, and the server ends at some step. Then it is quiet, and exactly what is in use
 * may be leased. In the race exactly as many get GPUs as there are, kills or not.
 */
export async function proveCapacity({ seed, rounds }: { seed: number; rounds: number }): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const world = await openWorld(stack, gpus);
  const random = seeded(seed);
  const sum: Sum = { granted: 0, turns: 0, chaos: 0, longestQuietMs: 0 };
  const watching = setInterval(() => checkMachine(world), 5);
  stack.defer(() => clearInterval(watching));
  const began = performance.now();
  let held: readonly Asked[] = [];
  for (let round = 1; round <= rounds; round++) {
    await stir(world, random, held, sum);
    await settle(world, sum);
    held = await race(world, random, sum);
    if (round % 50 === 0) console.log(`${round} rounds, ${world.ends()} kills, ${sum.granted} granted`);
  }
  await settle(world, sum);
  assert.deepEqual(world.failures, []);
  const resumed = await sql<{
    n: number;
  }>`select count(*) as n from environments where warm and created_at is not null`.execute(world.db);
  const took = Math.round((performance.now() - began) / 1000);
  const text = `${rounds} rounds of ${askers} creates for the last of ${gpus} GPUs, ${sum.chaos} orders, launches, stops, starts, ends and places in line before them, ${world.ends()} kills: 0 GPUs twice, neither by lease nor in what runs; exactly min(free, asked) granted each time, ${sum.granted} in all, ${sum.turns} of them to who waited in line; ${resumed.rows[0]?.n} launches woke a run that stood ready; 0 leaked, ${(sum.longestQuietMs / 1000).toFixed(1)} s after quiet at most.`;
  writeProof("capacity", `\`npm run prove -- capacity --seed ${seed} --rounds ${rounds}\`: ${text}`);
  console.log(`${text} ${took} s`);
}

/** Everything at once, with a server that may end in the middle. */
async function stir(world: World, random: Random, held: readonly Asked[], sum: Sum): Promise<void> {
  if (random.chance(0.5)) world.arm({ step: 1 + Math.floor(random() * 400), when: random.of(["before", "after"]) });
  const { rows } = await sql<{ id: string; userId: string; subdomain: string }>`
    select id, user_id as "userId", subdomain from environments where status <> 'terminated' order by id`.execute(
    world.db,
  );
  const work = [
    ...held.map((asked) => () => (random.chance(0.7) ? pay(world, asked) : undo(world, asked))),
    ...rows.map((owned) => () => happen(world, random, owned)),
    ...Array.from({ length: 8 }, () => async () => void (await create(world, newAsker(random.of([1, 1, 2, 4]))))),
    ...Array.from({ length: 4 }, () => () => wait(world, random)),
  ];
  sum.chaos += work.length;
  await Promise.all(work.map((each) => each().catch(refusal)));
}

/** What an owner or an order may be told while others are quicker; anything else is a fault. */
function refusal(error: unknown): void {
  const said = error instanceof Error ? error.message : String(error);
  if (/^Not enough GPUs|cannot be|holds 0 of|does not hold the name/.test(said)) return;
  throw error;
}

async function pay(world: World, { orderId, userId, subdomain, gpuCount }: Asked): Promise<void> {
  const now = new Date();
  const times = { orderedAt: now, paidAt: now, giveUpAt: new Date(now.getTime() + 600_000) };
  await world.on(async (db) => {
    const known = await db.selectFrom("environments").where("order_id", "=", orderId).select("id").executeTakeFirst();
    if (known) return;
    const request = { orderId, userId, subdomain, gpuCount, durationHours: 24, containerType: "jupyter", ...times };
    await db.transaction().execute((tx) => launch(tx, request));
  });
}

const undo = (world: World, { orderId }: Asked) =>
  world.on((db) => db.transaction().execute((tx) => releaseHold(tx, orderId)));

interface Owned {
  readonly id: string;
  readonly userId: string;
  readonly subdomain: string;
}

async function happen(world: World, random: Random, owned: Owned): Promise<void> {
  const what = random.of(["stop", "start", "restart", "pause", "expire", "terminate", "stop and start", "nothing"]);
  if (what === "nothing") return;
  if (what === "terminate") return world.on((db) => terminate(db, owned, owned.subdomain));
  if (what === "expire")
    return world.on(async (db) => {
      await sql`update environments set expires_at = now(), due_at = now() where id = ${owned.id} and expires_at is not null`.execute(
        db,
      );
    });
  if (what !== "stop and start") return world.on((db) => act(db, owned, what as "stop"));
  await world.on((db) => act(db, owned, "stop"));
  await sleep(random() * 60);
  await world.on((db) => act(db, owned, "start"));
}

async function wait(world: World, random: Random): Promise<void> {
  const { userId } = newAsker(1);
  await world.on((db) => enterQueue(db, userId, random.of([1, 2, 4]), async () => {}));
  if (random.chance(0.3)) await world.on((db) => db.transaction().execute((tx) => exitQueue(tx, userId)));
}

/** Nobody asks for anything any more: in time only what is used is leased, and everything runs as it is wanted. */
async function settle(world: World, sum: Sum): Promise<void> {
  const { db } = world;
  await world.on((now) => sql`select 1`.execute(now));
  const began = performance.now();
  const unpaid = await sql<{ id: string }>`
    select distinct holder_id as id from gpu_leases where holder_kind = 'order' and released_at is null`.execute(db);
  for (const { id } of unpaid.rows) await db.transaction().execute((tx) => releaseHold(tx, id));
  const line = await sql<{ user_id: string }>`select user_id from queue_entries where closed_at is null`.execute(db);
  for (const { user_id } of line.rows) await db.transaction().execute((tx) => exitQueue(tx, user_id));
  await until(
    "quiet",
    async () => {
      // A server that ended in the meantime is followed by the next.
      await world.on((now) => sql`select 1`.execute(now));
      return (await unsettled(world)) === 0;
    },
    quietSeconds * 1000,
  );
  checkMachine(world);
  sum.longestQuietMs = Math.max(sum.longestQuietMs, performance.now() - began);
}

/** Leases that nobody uses, uses that have no lease, and what is not as it is wanted; runs that no row knows. */
async function unsettled({ db, machine }: World): Promise<number> {
  const { rows } = await sql<{ id: string; held: number; wants: number; calm: boolean; runs: boolean }>`
    select e.id, (select count(*) from gpu_leases where holder_kind = 'environment' and holder_id = e.id and released_at is null) as held,
      case when e.status in ('active', 'paused') then e.gpu_count else 0 end as wants, e.status in ('active', 'paused') as runs,
      (e.desired, e.status) in (('running', 'active'), ('stopped', 'stopped'), ('paused', 'paused'), ('paused', 'stopped')) as calm
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
    rows.filter(({ held, wants, calm }) => !calm || held !== wants).length + others.rows.length + Number(wrongRuns)
  );
}

/** No GPU is in two runs, whatever the database says. */
function checkMachine({ machine }: World): void {
  const used = [...machine.runs.values()].filter(({ exit }) => !exit).flatMap(({ spec }) => spec.gpus);
  assert.equal(new Set(used).size, used.length, `a GPU runs twice: ${used.join(" ")}`);
}

/** Fifty at once, some of whom wait in line: exactly as many get one as there are. Answers who holds one unpaid. */
async function race(world: World, random: Random, sum: Sum): Promise<readonly Asked[]> {
  const free = await makeRoom(world, 1 + Math.floor(random() * 2));
  if (random.chance(0.5)) world.arm({ step: 1 + Math.floor(random() * 600), when: random.of(["before", "after"]) });
  const all = Array.from({ length: askers }, () => newAsker(1));
  const inLine = all.slice(0, random.of([0, 0, 3]));
  const buying = all.slice(inLine.length);
  const stand = ({ userId }: Asked) => world.on((db) => enterQueue(db, userId, 1, async () => {}));
  // Half of the time they stand there when the others come.
  if (random.chance(0.5)) await Promise.all(inLine.map(stand));
  const [answers] = await Promise.all([Promise.all(buying.map((asked) => create(world, asked))), ...inLine.map(stand)]);
  const { rows } = await sql<{ kind: string; holders: number; leases: number }>`
    select holder_kind as kind, count(distinct holder_id) as holders, count(*) as leases
    from gpu_leases where released_at is null and holder_kind in ('order', 'queue') group by holder_kind`.execute(
    world.db,
  );
  const held = buying.filter((_, index) => answers[index]);
  const turns = rows.find(({ kind }) => kind === "queue")?.leases ?? 0;
  assert.equal(rows.find(({ kind }) => kind === "order")?.leases ?? 0, held.length, "who was told yes holds a GPU");
  // Who joins after the last was sold waits; who joined before has a turn.
  assert.equal(held.length + turns, Math.min(free, askers), `${free} were free, ${held.length} sold, ${turns} turns`);
  sum.granted += held.length + turns;
  sum.turns += turns;
  return held;
}

/** Ends what runs until so many are free, and answers how many are. */
async function makeRoom(world: World, wanted: number): Promise<number> {
  const { db } = world;
  const free = async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from gpus g where not exists (
        select 1 from gpu_leases where gpu_id = g.id and released_at is null and holder_kind <> 'pool')`.execute(db);
    return rows[0]?.n ?? 0;
  };
  const { rows } = await sql<Owned & { gpu_count: number }>`
    select id, user_id as "userId", subdomain, gpu_count from environments
    where status in ('active', 'paused') order by id`.execute(db);
  let room = await free();
  for (const owned of rows) {
    if (room >= wanted) break;
    await terminate(db, owned, owned.subdomain);
    room += owned.gpu_count;
  }
  return await until("room", async () => ((await free()) === room ? room : undefined), quietSeconds * 1000);
}
