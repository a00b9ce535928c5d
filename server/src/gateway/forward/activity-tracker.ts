import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { startLoop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { recordUse } from "../../environments/activity/activity.ts";
import { isNavigation, type Principal } from "../principal/principal.ts";

/** More than one exchange of an open page that only looks whether something is new. */
const largeBytes = 1_000_000;
/** A ping, a pong, and what applications say in their place. Whatever a kernel or a terminal says is longer. */
const heartbeatBytes = 64;
/** How long a stop waits for the database. */
const patienceMs = 2000;

/** What is done through the gateway, as opposed to a page that was left open (docs/internals/runtime.md). */
export interface ActivityTracker {
  /** A request that somebody, or a script, made: a page asking by itself whether something is new does not count. */
  request(environmentId: string, request: IncomingMessage, visitor: Principal): void;
  /** Counts the bytes of one exchange, either way; one that is large is a use for as long as it goes on. */
  exchange(environmentId: string): (bytes: number) => void;
  /** Hears of the bytes of a WebSocket, either way. */
  socket(environmentId: string, request: IncomingMessage): (bytes: number) => void;
  /** Writes what is left, once nothing is under way any more. Never throws, nor waits long for a database that is away. */
  stop(): Promise<void>;
}

export function createActivityTracker(db: Db, intervalMs: number, failed: (error: unknown) => void): ActivityTracker {
  const used = new Set<string>();
  async function write(): Promise<number> {
    const ids = [...used];
    used.clear();
    try {
      if (ids.length > 0) await recordUse(db, ids);
    } catch (error) {
      // Told again with the next ones: what was used must not look idle because the database was away.
      for (const id of ids) used.add(id);
      throw error;
    }
    return intervalMs;
  }
  const loop = startLoop(write, intervalMs, failed);
  return {
    request(id, request, visitor) {
      if (isUse(request, visitor)) used.add(id);
    },
    exchange(id) {
      let sum = 0;
      return (bytes) => {
        sum += bytes;
        if (sum > largeBytes) used.add(id);
      };
    },
    socket(id, request) {
      const most = isOwnAccord(request) ? Number.POSITIVE_INFINITY : heartbeatBytes;
      return (bytes) => {
        if (bytes > most) used.add(id);
      };
    },
    async stop() {
      const written = loop.stop().then(write).catch(failed);
      await Promise.race([written, wait(patienceMs, undefined, { ref: false })]);
    },
  };
}

/**
 * What an open JupyterLab does by itself every ten seconds, whoever is there: it saves how its windows lie, and hears on its
 * stream of events of the looks that it takes at its own files.
 */
function isOwnAccord({ url = "" }: IncomingMessage): boolean {
  return url.startsWith("/lab/api/workspaces/") || url.split("?", 1)[0] === "/api/events/subscribe";
}

const reads: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Open pages ask with GET whether something is new. A page that is opened, anything sent, and whatever a script does with the token is work. */
function isUse(request: IncomingMessage, visitor: Principal): boolean {
  return visitor.kind === "token" || (!reads.has(request.method) && !isOwnAccord(request)) || isNavigation(request);
}
