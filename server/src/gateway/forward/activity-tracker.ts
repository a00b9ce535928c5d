import type { IncomingMessage } from "node:http";
import { startInterval } from "../../async/start-interval.ts";
import { withTimeout } from "../../async/with-timeout.ts";
import type { Db } from "../../database/database.ts";
import { recordUse } from "../../environments/activity/activity.ts";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { isNavigation } from "../principal/is-navigation.ts";
import type { Principal } from "../principal/principal.ts";

/** More than one exchange of an open page that only polls for something new. */
const largeBytes = 1_000_000;
/** A ping, a pong, and what applications send in their place. Messages of a kernel or a terminal are longer. */
const heartbeatBytes = 64;
/** How long a stop waits for the database. */
const stopTimeoutMs = 2000;

/** What is done through the gateway, as opposed to a page that was left open (docs/internals/runtime.md). */
export interface ActivityTracker {
  /** A request of a person or a script counts, a page that polls by itself does not. */
  onRequest(environmentId: string, request: IncomingMessage, principal: Principal): void;
  /** Counts the bytes of one exchange, either way; a large one counts for as long as it goes on. */
  countExchange(environmentId: string): (bytes: number) => void;
  /** Gets the bytes of each message of a WebSocket, either way. */
  countMessages(environmentId: string, request: IncomingMessage): (bytes: number) => void;
  /** Writes what is left, once nothing is under way any more. Never throws, nor waits long for an unreachable database. */
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
      // Written with the next ones: an environment must not look idle because the database was unreachable.
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
    async stop() {
      const written = loop.stop().then(write).catch(logError(log, "environment.use_not_written"));
      await withTimeout(written, stopTimeoutMs, () => {});
    },
  };
}

/**
 * What an open JupyterLab does by itself every ten seconds: it saves its window layout, and its stream of events reports
 * that it polled its own files.
 */
function isAutomatic({ url = "" }: IncomingMessage): boolean {
  return url.startsWith("/lab/api/workspaces/") || url.split("?", 1)[0] === "/api/events/subscribe";
}

const reads: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Open pages poll with GET. An opened page, anything sent, and all that a script does with the token is use. */
function isUse(request: IncomingMessage, principal: Principal): boolean {
  return principal.kind === "token" || (!reads.has(request.method) && !isAutomatic(request)) || isNavigation(request);
}
