import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";

/** How an environment is to its users. */
export type Availability = "open" | "starting" | "paused" | "stopped" | "ended" | "not_answering";

/**
 * By status, never by trying: a paused container accepts a connection and stays silent. What the owner asked for counts
 * at once; only `open` waits until the environment has started.
 */
export function availabilityOf(route: EnvironmentRoute, nowMs: number): Availability {
  if (route.status === "terminated" || route.desired === "terminated") return "ended";
  if (route.expiresAt !== null && route.expiresAt.getTime() <= nowMs) return "ended";
  if (route.status === "pending") return route.desired === "running" ? "starting" : "stopped";
  if (route.desired !== "running") return route.desired;
  if (route.status === "stopped" || route.status === "paused") return "starting";
  return route.endpoint === null || route.runToken === null ? "not_answering" : "open";
}

/**
 * Whether a connection opened earlier may stay: a paused environment keeps its kernels and its connections (G23), also while
 * it resumes. To end it would cost half a minute: JupyterLab waits so long before it asks for a kernel again.
 */
export function keepsConnections(route: EnvironmentRoute, nowMs: number): boolean {
  const availability = availabilityOf(route, nowMs);
  if (availability === "starting") return route.status === "paused";
  return availability === "open" || availability === "paused" || availability === "not_answering";
}
