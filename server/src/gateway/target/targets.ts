import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { listRoutes } from "../../environments/api/list-routes.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { type Grants, loadGrants } from "../principal/grants.ts";
import { createDatabaseClock, type DatabaseClock } from "./database-clock.ts";
import { createDueReads } from "./due-reads.ts";
import { createTargetTable, type Target, type TargetTable } from "./target-table.ts";

export interface Targets {
  find(subdomain: string): Target | undefined;
  /** Whether the routes were ever read: before, an unknown name says nothing. */
  isRead(): boolean;
  /** Reads one environment now, ahead of its notification. */
  refresh(id: string): Promise<void>;
  /** Reads one grant in order with other pending reads, so that it cannot undo a later revocation. Never throws. */
  readGrant(id: string): Promise<void>;
  /** The database's time, carried by the monotonic clock. */
  nowMs(): number;
  all(): Iterable<Target>;
  close(): Promise<void>;
}

interface TargetsDeps {
  readonly db: Db;
  readonly changes: Changes;
  readonly grants: Grants;
  /** Runs after every read. */
  readonly onChange: () => void;
  readonly log: Logger;
}

const reloadMs = 30_000;
const retryMs = 500;

/**
 * Keeps the whole route table and all grants in memory, so that open notebooks survive a database outage
 * (docs/internals/gateway.md). Notifications update them; they are reloaded after a lost connection and every 30 s.
 */
export async function openTargets(deps: TargetsDeps): Promise<Targets> {
  const table = createTargetTable();
  const clock = createDatabaseClock();
  const due = createDueReads(readsOf(deps, table, clock), reloadMs);
  let loop: Loop | undefined;
  let isRead = false;

  async function pass(): Promise<number> {
    try {
      await due.pass();
    } catch (err) {
      deps.log.error({ event: "gateway.routes_not_read", err });
      return retryMs;
    }
    isRead = true;
    deps.onChange();
    return reloadMs;
  }

  const unsubscribe = feed(deps.changes, due, () => loop?.trigger());
  await pass();
  loop = startInterval({ name: "gateway-routes", work: pass, intervalMs: reloadMs, log: deps.log });

  return {
    find: table.find,
    isRead: () => isRead,
    async refresh(id) {
      await readEnvironment(deps.db, table, id);
      deps.onChange();
    },
    readGrant(id) {
      due.add("grants", id);
      loop?.trigger();
      return due.nextPass();
    },
    nowMs: clock.nowMs,
    all: table.all,
    async close() {
      unsubscribe();
      await loop?.stop();
      due.end();
      table.keepOnly(new Set());
    },
  };
}

function feed(changes: Changes, due: ReturnType<typeof createDueReads>, trigger: () => void): () => void {
  return changes.subscribe(
    ({ kind, id }) => {
      if (kind !== "environment" && kind !== "grant") return;
      due.add(kind === "grant" ? "grants" : "environments", id);
      trigger();
    },
    () => {
      due.addEverything();
      trigger();
    },
  );
}

function readsOf({ db, grants }: Pick<TargetsDeps, "db" | "grants">, table: TargetTable, clock: DatabaseClock) {
  return {
    async everything(): Promise<void> {
      await clock.set(db);
      const routes = await listRoutes(db);
      table.keepOnly(new Set(routes.map((route) => route.subdomain)));
      for (const route of routes) table.put(route);
      await loadGrants(db, grants);
    },
    async some(environmentIds: Iterable<string>, grantIds: Iterable<string>): Promise<void> {
      for (const id of environmentIds) await readEnvironment(db, table, id);
      for (const id of grantIds) await loadGrants(db, grants, id);
    },
  };
}

async function readEnvironment(db: Db, table: TargetTable, id: string): Promise<void> {
  const routes = await listRoutes(db, id);
  for (const route of routes) table.put(route);
  if (routes.length === 0) table.dropId(id);
}
