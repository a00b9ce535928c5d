import { sql } from "kysely";
import type { Replica } from "../../testing/start-replica.ts";
import { memoryMb } from "../processes.ts";
import { type Bench, parentOf, treeCpuMs } from "./scale-processes.ts";

export type Counters = Awaited<ReturnType<typeof counters>>;

/** What has been used and done so far, by every process and by the database. */
export async function counters(bench: Bench) {
  const { db } = bench.database;
  const { rows } = await sql<{ pid: number; commits: number; updates: number; wal: number; connections: number }>`
    select pg_backend_pid() as pid,
      (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
      (select sum(n_tup_upd + n_tup_ins) from pg_stat_user_tables)::float8 as updates,
      (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as wal,
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections`.execute(db);
  const [row = { pid: 0, commits: 0, updates: 0, wal: 0, connections: 0 }] = rows;
  const at = performance.now();
  const of = ({ pid }: Replica) => ({ cpuMs: treeCpuMs(pid), memoryMb: memoryMb(pid) });
  return {
    at,
    ...row,
    walKb: row.wal / 1024,
    notifications: bench.heard.count,
    databaseMs: treeCpuMs(parentOf(row.pid)),
    engineMs: treeCpuMs(Number(bench.engine.pid)),
    workers: bench.workers.map(of),
    gateways: bench.gateways.map(of),
  };
}

/** The table of what happened between two counts. */
export function difference(before: Counters, after: Counters): Record<string, string | number> {
  const ms = after.at - before.at;
  const perSecond = (key: "notifications" | "updates" | "commits" | "walKb") =>
    (((after[key] - before[key]) * 1000) / ms).toFixed(0);
  const share = (from: number, to: number) => `${(((to - from) / ms) * 100).toFixed(0)} %`;
  const each = (key: "workers" | "gateways") =>
    after[key]
      .map((now, at) => `${share(before[key][at]?.cpuMs ?? 0, now.cpuMs)} ${now.memoryMb.toFixed(0)} MB`)
      .join(", ");
  return {
    "workers: CPU of a core, memory": each("workers"),
    gateways: each("gateways"),
    "database: CPU of a core": share(before.databaseMs, after.databaseMs),
    connections: after.connections,
    "fake engine: CPU of a core": share(before.engineMs, after.engineMs),
    "commits a second": perSecond("commits"),
    "rows written a second": perSecond("updates"),
    "WAL KB a second": perSecond("walKb"),
    "notifications a second": perSecond("notifications"),
  };
}
