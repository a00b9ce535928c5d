import type { Availability } from "@berth/contract";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";

/**
 * Derived from the status, never from a connection attempt: a paused container accepts connections and stays silent. The
 * desired state counts at once; only `open` waits for the observed one.
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
 * Whether open connections stay: a paused environment keeps its kernels and connections (G23), also while it resumes.
 * Closing them would cost half a minute, JupyterLab's delay before it reconnects to a kernel.
 */
export function keepsConnections(route: EnvironmentRoute, nowMs: number): boolean {
  const availability = availabilityOf(route, nowMs);
  if (availability === "starting") return route.status === "paused";
  return availability === "open" || availability === "paused" || availability === "not_answering";
}
