import { withTimeout } from "../../async/with-timeout.ts";
import type { Db } from "../../database/database.ts";
import { type BarFacts, barFactsOf } from "../../environments/api/bar-facts.ts";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";

const keptMs = 10_000;
const timeoutMs = 1000;
const mostKept = 10_000;

export type ReadBarFacts = (route: EnvironmentRoute) => Promise<BarFacts | undefined>;

/**
 * Facts of the database for the bar, read once in ten seconds for all pages of an environment and again when its route
 * changes. Undefined while the database does not answer within a second; an answer that comes later serves the next question.
 */
export function createBarFactsCache(db: Db): ReadBarFacts {
  const kept = new Map<string, { readonly route: EnvironmentRoute; readonly until: number; readonly facts: Facts }>();
  return (route) => {
    const before = kept.get(route.id);
    const now = performance.now();
    // Every read of the routes makes new ones, after each change and every half minute.
    if (before && before.route === route && now < before.until) return inTime(before.facts);
    if (kept.size >= mostKept) kept.clear();
    const facts = barFactsOf(db, route.id).catch(() => undefined);
    kept.set(route.id, { route, until: now + keptMs, facts });
    return inTime(facts);
  };
}

type Facts = Promise<BarFacts | undefined>;

const inTime = (facts: Facts): Facts => withTimeout(facts, timeoutMs, () => undefined);
