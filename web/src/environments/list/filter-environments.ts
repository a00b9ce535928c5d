import type { Environment } from "../lifecycle/environment.ts";
import { type Column, type ListView, type Sort, type StatusFilter, split, statusFilters } from "./list-view.ts";

/** Filters and sorts the environments of a view. */
export function filterEnvironments(environments: readonly Environment[], view: ListView): readonly Environment[] {
  return environments.filter((environment) => matches(environment, view));
}

/** The number of environments per status filter (spec 2.8). */
export function countByStatus(environments: readonly Environment[]): Readonly<Record<StatusFilter, number>> {
  const count = (filter: StatusFilter) => environments.filter((one) => hasStatus(one, filter)).length;
  return Object.fromEntries(statusFilters.map(({ value }) => [value, count(value)])) as Record<StatusFilter, number>;
}

export function sortEnvironments(environments: readonly Environment[], sort: Sort): readonly Environment[] {
  const [column, direction] = split(sort);
  const sign = direction === "asc" ? 1 : -1;
  return environments.toSorted(
    (a, b) =>
      lastOf(column, a) - lastOf(column, b) || sign * compare[column](a, b) || byAge(b, a) || (a.id < b.id ? -1 : 1),
  );
}

function matches(environment: Environment, view: ListView): boolean {
  if (view.environment && environment.id !== view.environment) return false;
  if (!hasStatus(environment, view.status)) return false;
  const query = view.search.trim().toLowerCase();
  if (query === "") return true;
  // Also matches `running`, because other clients show active as running.
  const running = environment.status === "active" ? "running" : "";
  const { name, type, status, subdomain, id } = environment;
  return [name, type, status, running, subdomain, id, id.slice(0, 8)].some((text) =>
    text.toLowerCase().includes(query),
  );
}

function hasStatus(environment: Environment, filter: StatusFilter): boolean {
  return filter === "all" || environment.status === filter;
}

/** N/A and terminated are last in both directions of Expires (G58). */
function lastOf(column: Column, environment: Environment): number {
  if (column !== "expires") return 0;
  if (environment.status === "terminated") return 2;
  return environment.expires_at === null ? 1 : 0;
}

type Compare = (a: Environment, b: Environment) => number;

const byAge: Compare = (a, b) => instant(a.created_at) - instant(b.created_at);

const compare: Readonly<Record<Column, Compare>> = {
  name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  type: (a, b) => a.type.localeCompare(b.type),
  status: (a, b) => a.status.localeCompare(b.status),
  created: byAge,
  expires: (a, b) => instant(a.expires_at) - instant(b.expires_at),
};

function instant(iso: string | null): number {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? 0 : at;
}
