import type { IncomingMessage } from "node:http";
import { startInterval } from "../../async/start-interval.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { Db } from "../../database/database.ts";
import { recordUse } from "../../environments/activity/activity.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { isNavigation } from "../principal/is-navigation.ts";
import type { Principal } from "../principal/principal.ts";

/** More than one response to the polling of an open page. */
const largeBytes = 1_000_000;
/** Covers ping, pong and application heartbeats. Messages of a kernel or terminal are longer. */
const heartbeatBytes = 64;
/** More than keep-alives of an SSH client in so long. */
const keepAliveBytes = 2048;
const keepAliveMs = 15_000;
/** The wait for the database when the gateway stops. */
const stopTimeoutMs = 2000;

/** Records activity through the gateway; a page that is only left open is none (docs/internals/runtime.md). */
export interface ActivityTracker {
  /** Requests of a person or script count; polling by an open page does not. */
  onRequest(environmentId: string, request: IncomingMessage, principal: Principal): void;
  /** Counts the bytes of one exchange in both directions; a large transfer counts as activity until it ends. */
  countExchange(environmentId: string): (bytes: number) => void;
  /** Gets the size of each WebSocket message in both directions. */
  countMessages(environmentId: string, request: IncomingMessage): (bytes: number) => void;
  /** Gets the size of what an SSH client sends: keep-alives alone are no activity. */
  countClient(environmentId: string): (bytes: number) => void;
  /** Flushes to the database after all exchanges have ended. Never throws; times out when the database is unreachable. */
  stop(): Promise<void>;
}

export function createActivityTracker(db: Db, intervalMs: number, log: Logger): ActivityTracker {
  const used = new Set<string>();
  async function write(): Promise<number> {
    const ids = [...used];
    used.clear();
    try {
      if (ids.length > 0) await recordUse(db, ids);
    } catch (error) {
      // Retried with the next write: a database outage must not make an environment look idle.
      for (const id of ids) used.add(id);
      throw error;
    }
    return intervalMs;
  }
  const loop = startInterval({ name: "activity", work: write, intervalMs, log });
  return {
    onRequest(id, request, principal) {
      if (isUse(request, principal)) used.add(id);
    },
    countExchange(id) {
      let sum = 0;
      return (bytes) => {
        sum += bytes;
        if (sum > largeBytes) used.add(id);
      };
    },
    countMessages(id, request) {
      const maxBytes = isAutomatic(request) ? Number.POSITIVE_INFINITY : heartbeatBytes;
      return (bytes) => {
        if (bytes > maxBytes) used.add(id);
      };
    },
    countClient(id) {
      let [sum, sinceMs] = [0, performance.now()];
      return (bytes) => {
        const nowMs = performance.now();
        if (nowMs - sinceMs > keepAliveMs) [sum, sinceMs] = [0, nowMs];
        sum += bytes;
        if (sum > keepAliveBytes) used.add(id);
      };
    },
    async stop() {
      const written = loop.stop().then(write).catch(logError(log, "environment.use_not_written"));
      await withTimeout(written, stopTimeoutMs, () => {});
    },
  };
}

/**
 * Requests of an idle JupyterLab page, every ten seconds: it saves its window layout, and its event stream reports its own
 * file polling.
 */
function isAutomatic({ url = "" }: IncomingMessage): boolean {
  return url.startsWith("/lab/api/workspaces/") || url.split("?", 1)[0] === "/api/events/subscribe";
}

const reads: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Open pages poll with GET. A navigation, any write and any request with the token count as use. */
function isUse(request: IncomingMessage, principal: Principal): boolean {
  return principal.kind === "token" || (!reads.has(request.method) && !isAutomatic(request)) || isNavigation(request);
}
