import { type Loop, startLoop } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { listRoutes } from "../../environments/api/list-routes.ts";
import { type Grants, loadGrants } from "../principal/grants.ts";
import { createDatabaseClock } from "./database-clock.ts";
import { createTargetTable, type Target } from "./target-table.ts";

export interface Targets {
  find(subdomain: string): Target | undefined;
  /** Reads one again now, for whoever may know of a change before it was told here. */
  look(id: string): Promise<void>;
  /** Reads one grant in turn with what else is due, so that no later revocation is undone. Never throws. */
  lookForGrant(id: string): Promise<void>;
  /** The database's time, kept by a clock that never jumps. */
  nowMs(): number;
  all(): Iterable<Target>;
  close(): Promise<void>;
}

const reloadMs = 30_000;
const retryMs = 500;

/**
 * The whole route table and every grant in memory: with the database down, open notebooks go on
 * (docs/internals/gateway.md). Fed by what changed, read again as a whole after a lost connection and every 30 s.
 * `changed` runs after each pass.
 */
export async function openTargets(parts: {
  readonly db: Db;
  readonly changes: Changes;
  readonly grants: Grants;
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
}): Promise<Targets> {
  const table = createTargetTable();
  const clock = createDatabaseClock();
  const read = createReads(parts, table, clock);
  let due = { ...nothingDue(), everything: true };
  let passed = Promise.withResolvers<void>();
  let readAt = 0;
  let loop: Loop | undefined;

  /** What could not be read is due again. */
  async function pass(): Promise<number> {
    const { environments, grants: granted } = due;
    const everything = due.everything || performance.now() - readAt >= reloadMs;
    due = nothingDue();
    const { resolve } = passed;
    passed = Promise.withResolvers();
    try {
      await (everything ? read.everything() : read.some(environments, granted));
    } catch (error) {
      parts.failed(error);
      due.everything = true;
      return retryMs;
    } finally {
      resolve();
    }
    if (everything) readAt = performance.now();
    parts.changed();
    return reloadMs;
  }

  const unsubscribe = parts.changes.subscribe(
    ({ kind, id }) => {
      if (kind !== "environment" && kind !== "grant") return;
      due[kind === "grant" ? "grants" : "environments"].add(id);
      loop?.nudge();
    },
    () => {
      due.everything = true;
      loop?.nudge();
    },
  );
  await pass();
  loop = startLoop(pass, reloadMs, parts.failed);

  return {
    find: table.find,
    async look(id) {
      await read.one(id);
      parts.changed();
    },
    lookForGrant(id) {
      due.grants.add(id);
      loop?.nudge();
      return passed.promise;
    },
    nowMs: clock.nowMs,
    all: table.all,
    async close() {
      unsubscribe();
      await loop?.stop();
      passed.resolve();
      table.keep(new Set());
    },
  };
}

function createReads(
  { db, grants }: { readonly db: Db; readonly grants: Grants },
  table: ReturnType<typeof createTargetTable>,
  clock: ReturnType<typeof createDatabaseClock>,
) {
  async function one(id: string): Promise<void> {
    const routes = await listRoutes(db, id);
    for (const route of routes) table.put(route);
    if (routes.length === 0) table.dropId(id);
  }
  return {
    one,
    async everything(): Promise<void> {
      await clock.set(db);
      const routes = await listRoutes(db);
      table.keep(new Set(routes.map((route) => route.subdomain)));
      for (const route of routes) table.put(route);
      await loadGrants(db, grants);
    },
    async some(environments: Iterable<string>, granted: Iterable<string>): Promise<void> {
      for (const id of environments) await one(id);
      for (const id of granted) await loadGrants(db, grants, id);
    },
  };
}

function nothingDue() {
  return { everything: false, environments: new Set<string>(), grants: new Set<string>() };
}
