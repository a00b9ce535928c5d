import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { closeRun, createRun, type Run } from "./run.ts";

/** One subdomain and its run. */
export interface Target {
  readonly route: EnvironmentRoute;
  readonly run: Run | undefined;
}

export type TargetTable = ReturnType<typeof createTargetTable>;

/** All targets by subdomain. Removing a target closes its connections. */
export function createTargetTable() {
  const targets = new Map<string, Target>();
  const subdomains = new Map<string, string>();

  function drop(subdomain: string): void {
    const target = targets.get(subdomain);
    if (!target) return;
    if (target.run) closeRun(target.run);
    subdomains.delete(target.route.id);
    targets.delete(subdomain);
  }

  return {
    find: (subdomain: string): Target | undefined => targets.get(subdomain),
    all: (): Iterable<Target> => targets.values(),
    put(route: EnvironmentRoute): void {
      const before = targets.get(route.subdomain);
      if (before) subdomains.delete(before.route.id);
      subdomains.set(route.id, route.subdomain);
      targets.set(route.subdomain, { route, run: runOf(route, before) });
    },
    dropId(id: string): void {
      drop(subdomains.get(id) ?? "");
    },
    keepOnly(kept: ReadonlySet<string>): void {
      for (const subdomain of [...targets.keys()]) if (!kept.has(subdomain)) drop(subdomain);
    },
  };
}

/** Keeps an unchanged run; otherwise closes its connections. */
function runOf(route: EnvironmentRoute, before: Target | undefined): Run | undefined {
  if (before?.run && isSameRun(route, before.route)) return before.run;
  if (before?.run) closeRun(before.run);
  if (route.endpoint === null || route.runToken === null) return undefined;
  return createRun(route.endpoint, route.runToken);
}

function isSameRun(one: EnvironmentRoute, other: EnvironmentRoute): boolean {
  return (
    one.id === other.id &&
    one.runToken === other.runToken &&
    JSON.stringify(one.endpoint) === JSON.stringify(other.endpoint)
  );
}
