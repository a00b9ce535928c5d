import type { Exchange } from "../forward/forward.ts";
import type { ConnectionPool } from "../http-client/connection-pool.ts";

export interface Limits {
  /** Requests and WebSockets under way at once. */
  readonly perEnvironment: number;
  readonly perAddress: number;
}

/** A request or WebSocket under way, and what it was allowed by. */
export interface OpenExchange {
  readonly subdomain: string;
  readonly environmentId: string;
  /** As it is counted: one home network is one (`addressKey`). */
  readonly address: string;
  /** The run it talks to. */
  readonly upstream: ConnectionPool;
  /** Exactly one of the two: the grant's id, or the secret that was shown. */
  readonly grant: string | undefined;
  readonly secret: string | undefined;
  exchange: Exchange | undefined;
  /** Its place in the list of all; -1 when it is not in it. */
  at: number;
}

/** Everything under way, so that it can be counted and ended. */
export interface OpenExchanges {
  /** Why one more is too many. */
  full(environmentId: string, address: string): "environment" | "address" | undefined;
  add(one: OpenExchange): void;
  remove(one: OpenExchange): void;
  /** Ends whatever `may` refuses. */
  keep(may: (one: OpenExchange) => boolean): void;
  readonly size: number;
}

/** One environment cannot use up what its owner's network, and whoever shares that, may open. */
const defaults: Limits = { perEnvironment: 500, perAddress: 2000 };

export function createOpenExchanges(given: Partial<Limits>): OpenExchanges {
  const limits = { ...defaults, ...given };
  // A set hashes each of them, which costs a request more than all else that is done for it here.
  const open: OpenExchange[] = [];
  const counts = { environment: new Map<string, number>(), address: new Map<string, number>() };

  function count(by: Map<string, number>, key: string, step: 1 | -1): void {
    const next = (by.get(key) ?? 0) + step;
    if (next > 0) by.set(key, next);
    else by.delete(key);
  }

  return {
    full(environmentId, address) {
      if ((counts.environment.get(environmentId) ?? 0) >= limits.perEnvironment) return "environment";
      return (counts.address.get(address) ?? 0) >= limits.perAddress ? "address" : undefined;
    },
    add(one) {
      one.at = open.push(one) - 1;
      count(counts.environment, one.environmentId, 1);
      count(counts.address, one.address, 1);
    },
    remove(one) {
      if (one.at === -1) return;
      const last = open.pop();
      if (last && last !== one) {
        open[one.at] = last;
        last.at = one.at;
      }
      one.at = -1;
      count(counts.environment, one.environmentId, -1);
      count(counts.address, one.address, -1);
    },
    keep(may) {
      for (const one of [...open]) if (!may(one)) one.exchange?.destroy();
    },
    get size() {
      return open.length;
    },
  };
}
