import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { type ConnectionPool, createConnectionPool } from "../http-client/connection-pool.ts";

/** One name, and the connections to what runs behind it. */
export interface Target {
  readonly route: EnvironmentRoute;
  /** Undefined while nothing runs. */
  readonly upstream: ConnectionPool | undefined;
}

/** Every name with its connections; whoever leaves the table loses them. */
export function createTargetTable() {
  const targets = new Map<string, Target>();
  const names = new Map<string, string>();

  function drop(subdomain: string): void {
    const target = targets.get(subdomain);
    if (!target) return;
    target.upstream?.close();
    names.delete(target.route.id);
    targets.delete(subdomain);
  }

  return {
    find: (subdomain: string): Target | undefined => targets.get(subdomain),
    all: (): Iterable<Target> => targets.values(),
    put(route: EnvironmentRoute): void {
      const before = targets.get(route.subdomain);
      if (before) names.delete(before.route.id);
      names.set(route.id, route.subdomain);
      targets.set(route.subdomain, { route, upstream: upstreamOf(route, before) });
    },
    dropId(id: string): void {
      drop(names.get(id) ?? "");
    },
    keep(subdomains: ReadonlySet<string>): void {
      for (const subdomain of [...targets.keys()]) if (!subdomains.has(subdomain)) drop(subdomain);
    },
  };
}

/** The same connections as long as the same run answers; another run, or none, closes them. */
function upstreamOf(route: EnvironmentRoute, before: Target | undefined): ConnectionPool | undefined {
  if (before?.upstream && isSameRun(route, before.route)) return before.upstream;
  before?.upstream?.close();
  return route.endpoint !== null && route.runToken !== null ? createConnectionPool(route.endpoint) : undefined;
}

function isSameRun(one: EnvironmentRoute, other: EnvironmentRoute): boolean {
  return (
    one.id === other.id &&
    one.runToken === other.runToken &&
    JSON.stringify(one.endpoint) === JSON.stringify(other.endpoint)
  );
}
