import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { recordLog, strictLog } from "../logging/testing/record-log.ts";
import { openChanges } from "./changes.ts";
import type { Db } from "./database.ts";
import { testDatabase } from "./testing.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  finishAndDelete,
  inMs,
  keepLease,
  type Leased,
  newLease,
  nextDueMs,
  noLease,
  renew,
  retryIn,
  startWorker,
  type WorkQueue,
  withoutLease,
} from "./work-queue.ts";

interface Job {
  readonly part: string;
  readonly no: number;
  readonly done: boolean;
  readonly due_at: Date | null;
  readonly lease_token: string | null;
  readonly lease_expires_at: Date | null;
  readonly attempts: number;
  readonly last_error: string | null;
}

const jobs: WorkQueue<Job> = { table: "jobs", key: ["part", "no"], leaseSeconds: 30 };
const open = sql`not done`;

/** Jobs 1, 2, ... of part a, due so many seconds from now. */
async function withJobs(
  ...dueSeconds: number[]
): Promise<{ db: Db; database: Awaited<ReturnType<typeof testDatabase>> }> {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await sql`
    create table jobs (part text, no integer, done boolean not null default false, due_at timestamptz,
      lease_token uuid, lease_expires_at timestamptz, attempts integer not null default 0, last_error text,
      primary key (part, no), check ((lease_token is null) = (lease_expires_at is null)))`.execute(db);
  await sql`create index jobs_due on jobs (greatest(due_at, lease_expires_at)) where not done`.execute(db);
  await sql`
    insert into jobs (part, no, due_at) select 'a', no, now() + make_interval(secs => seconds)
    from unnest(${dueSeconds}::float8[]) with ordinality as due (seconds, no)`.execute(db);
  return { db, database };
}

const fetch = (db: Db, limit = 10) => fetchDue(db, jobs, { where: open, limit });

async function fetchOne(db: Db): Promise<Leased<Job>> {
  const [job] = await fetch(db, 1);
  if (!job) throw new Error("nothing was due");
  return job;
}

async function jobsOf(db: Db): Promise<readonly Job[]> {
  return (await sql<Job>`select * from jobs order by no`.execute(db)).rows;
}

const expireLeases = (db: Db) =>
  sql`update jobs set lease_expires_at = now() where lease_token is not null`.execute(db);

test("due rows are fetched oldest first, and each is leased to one worker", async () => {
  const { db } = await withJobs(-1, -3, -2, 60);
  const first = await fetch(db, 2);
  expect(first.map(({ no }) => no).sort()).toEqual([2, 3]);
  expect((await fetch(db)).map(({ no }) => no)).toEqual([1]);
  expect(await fetch(db)).toEqual([]);
  const leases = (await jobsOf(db)).map(({ lease_token }) => lease_token);
  expect(new Set(leases.slice(0, 3)).size).toBe(3);
  expect(leases[3]).toBe(null);
});

test("concurrent workers fetch different rows", async () => {
  const { db } = await withJobs(...Array.from({ length: 40 }, () => -1));
  const shares = await Promise.all(Array.from({ length: 8 }, () => fetch(db, 7)));
  const numbers = shares.flat().map(({ no }) => no);
  expect(numbers.length).toBeGreaterThan(7);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("a locked row is skipped, not waited for", async () => {
  const { db } = await withJobs(-2, -1);
  await db.transaction().execute(async (tx) => {
    await sql`select from jobs where no = 1 for update`.execute(tx);
    expect((await fetch(db)).map(({ no }) => no)).toEqual([2]);
  });
  expect((await fetch(db)).map(({ no }) => no)).toEqual([1]);
});

test("computed values are returned with the row and available to set, which sees the old row", async () => {
  const { db } = await withJobs(-1);
  const [job] = await fetchDue<Job, { double: number }>(db, jobs, {
    where: open,
    limit: 1,
    compute: { double: sql<number>`no * 2` },
    set: { attempts: sql`attempts + due.double`, last_error: sql`'after ' || attempts` },
  });
  expect(job).toMatchObject({ double: 2, attempts: 2, last_error: "after 0" });
});

test("an expired lease goes to the next worker, and the late worker's result is not written", async () => {
  const { db } = await withJobs(-1);
  const late = await fetchOne(db);
  expect(await fetch(db)).toEqual([]);
  await expireLeases(db);
  const next = await fetchOne(db);
  expect(next.lease_token).not.toBe(late.lease_token);
  expect(await renew(db, jobs, late)).toBe(false);
  expect(await finish(db, jobs, late, { done: true })).toBeUndefined();
  await finishAndDelete(db, jobs, late);
  expect(await jobsOf(db)).toMatchObject([{ done: false, lease_token: next.lease_token }]);
  expect(await finish(db, jobs, next, { done: true })).toMatchObject({ no: 1, done: true });
});

test("a result releases the lease and sets the next due time", async () => {
  const { db } = await withJobs(-1);
  await finish(db, jobs, await fetchOne(db), retryIn(0, new Error("broken")));
  expect(await jobsOf(db)).toMatchObject([{ lease_token: null, lease_expires_at: null, last_error: "Error: broken" }]);
  const again = await fetchOne(db);
  await finish(db, jobs, again, { due_at: inMs(60_000), attempts: sql`attempts + 1` });
  expect(await fetch(db)).toEqual([]);
  expect(await jobsOf(db)).toMatchObject([{ attempts: 1 }]);
  expect(await nextDueMs(db, jobs, open)).toBeGreaterThan(50_000);
});

test("a result is refused, and the lease kept, if the extra condition is false", async () => {
  const { db } = await withJobs(-1);
  const job = await fetchOne(db);
  expect(await finish(db, jobs, job, { done: true }, sql`attempts = 7`)).toBeUndefined();
  expect(await jobsOf(db)).toMatchObject([{ done: false, lease_token: job.lease_token }]);
  await finishAndDelete(db, jobs, job);
  expect(await jobsOf(db)).toEqual([]);
});

test("a worker with a revoked lease writes nothing", async () => {
  const { db } = await withJobs(-1, -1);
  const [one, two] = await fetch(db);
  await sql`update jobs set ${withoutLease} where no = ${one?.no}`.execute(db);
  expect(noLease).toEqual({ lease_token: null, lease_expires_at: null });
  expect(await finish(db, jobs, one as Leased<Job>, { done: true })).toBeUndefined();
  expect(await finish(db, jobs, two as Leased<Job>, { done: true })).toBeDefined();
});

test("a row that becomes due under a lease waits until the lease ends", async () => {
  const { db } = await withJobs(-1);
  await fetchOne(db);
  await sql`update jobs set due_at = now()`.execute(db);
  expect(await fetch(db)).toEqual([]);
  expect(await nextDueMs(db, jobs, open)).toBeGreaterThan(20_000);
  await expireLeases(db);
  expect(await nextDueMs(db, jobs, open)).toBe(0);
  expect(await fetch(db)).toHaveLength(1);
});

test("a row without a lease can be fetched early, a leased one cannot", async () => {
  const { db } = await withJobs(60);
  const early = () => fetchDue(db, jobs, { where: sql`${open} and no = 1`, limit: 1, early: true });
  expect(await early()).toHaveLength(1);
  expect(await early()).toEqual([]);
  await expireLeases(db);
  expect(await early()).toHaveLength(1);
});

test("a row can be inserted under a lease", async () => {
  const { db } = await withJobs();
  const { lease_token, lease_expires_at } = newLease(jobs);
  await sql`insert into jobs (part, no, due_at, lease_token, lease_expires_at)
    values ('a', 1, now(), ${lease_token}, ${lease_expires_at})`.execute(db);
  expect(await fetch(db)).toEqual([]);
  await expireLeases(db);
  expect(await fetch(db)).toHaveLength(1);
});

test("a lease is renewed while the work runs", async () => {
  const { db } = await withJobs(-1);
  const short = { ...jobs, leaseSeconds: 0.3 };
  const [job] = await fetchDue(db, short, { where: open, limit: 1 });
  const firstEnd = job?.lease_expires_at?.getTime() ?? 0;
  const end = async () => (await jobsOf(db))[0]?.lease_expires_at?.getTime() ?? 0;
  const { log, errors } = recordLog();
  await keepLease(db, short, job as Leased<Job>, log, async () => {
    await expect.poll(end).toBeGreaterThan(firstEnd + 300);
    expect(await fetch(db)).toEqual([]);
  });
  const lastEnd = await end();
  await expect.poll(async () => (await fetch(db)).length).toBe(1);
  expect(Date.now()).toBeGreaterThanOrEqual(lastEnd);
  expect(errors).toEqual([]);
});

test("the next row may be due never, now, or when a lease expires", async () => {
  const { db } = await withJobs();
  expect(await nextDueMs(db, jobs, open)).toBe(Number.POSITIVE_INFINITY);
  await sql`insert into jobs (part, no, due_at) values ('a', 1, now() + interval '1 hour'), ('a', 2, null)`.execute(db);
  expect(Math.round((await nextDueMs(db, jobs, open)) / 60_000)).toBe(60);
  expect(await fetchDue(db, jobs, { where: sql`no = 2`, limit: 1 })).toEqual([]);
});

test("neither the fetch nor the next due time reads more than the due rows", async () => {
  const { db } = await withJobs();
  await sql`insert into jobs (part, no, due_at) select 'a', n, now() + interval '1 hour' from generate_series(1, 20000) n`.execute(
    db,
  );
  await sql`vacuum analyze jobs`.execute(db);
  await fetch(db);
  await nextDueMs(db, jobs, open);
  await expect
    .poll(async () => {
      await sql`select pg_stat_force_next_flush()`.execute(db);
      const { rows } = await sql<{ read: number }>`
        select seq_tup_read::float8 + coalesce(idx_tup_fetch, 0)::float8 as read from pg_stat_user_tables where relname = 'jobs'`.execute(
        db,
      );
      return rows[0]?.read;
    })
    .toBeLessThan(100);
});

test("the back-off doubles from the first wait to the longest", () => {
  const wait = { firstMs: 1000, longestMs: 60_000 };
  expect([0, 1, 2, 3, 6, 7, 5000].map((failures) => backoffMs(failures, wait))).toEqual([
    1000, 1000, 2000, 4000, 32_000, 60_000, 60_000,
  ]);
});

test("a worker processes all due rows, then waits for the next or for a notification", async () => {
  const { db, database } = await withJobs(-1, -1, -1);
  const worked: number[] = [];
  const worker = startWorker<Leased<Job>>({
    changes: await openChanges(database),
    name: "jobs",
    on: ["notification"],
    fetch: () => fetch(db, 2),
    work: async (job) => {
      worked.push(job.no);
      await finish(db, jobs, job, { done: true });
    },
    nextDueMs: () => nextDueMs(db, jobs, open),
    intervalMs: 3_600_000,
    log: strictLog(),
  });
  onTestFinished(() => worker.stop());
  await expect.poll(() => worked.toSorted()).toEqual([1, 2, 3]);
  await sql`insert into jobs (part, no, due_at) values ('a', 4, now())`.execute(db);
  await sql`select pg_notify('changes', ${JSON.stringify({ kind: "notification", id: "", user: "" })})`.execute(db);
  await expect.poll(() => worked.length).toBe(4);
});
