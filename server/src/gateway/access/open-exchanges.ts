import type { Run } from "../target/target-table.ts";

export interface Limits {
  /** Requests and WebSockets under way at once. */
  readonly perEnvironment: number;
  readonly perAddress: number;
}

/** A request or WebSocket under way, and what allowed it. */
export interface OpenExchange {
  readonly subdomain: string;
  readonly environmentId: string;
  /** As it is counted: one home network is one (`addressKey`). */
  readonly address: string;
  readonly run: Run;
  /** Exactly one of the two is set: the grant's id, or the environment secret that the client sent as its token. */
  readonly grantId: string | undefined;
  readonly secret: string | undefined;
  /** Ends both sides now; undefined until the exchange has begun. */
  destroy: (() => void) | undefined;
  /** Its index in the list of all; -1 when it is not in it. */
  index: number;
}

/** Everything under way, so that it can be counted and ended. */
export interface OpenExchanges {
  /** Which limit one more would break. */
  limitOf(environmentId: string, address: string): "environment" | "address" | undefined;
  add(exchange: OpenExchange): void;
  remove(exchange: OpenExchange): void;
  endUnless(isAllowed: (exchange: OpenExchange) => boolean): void;
  readonly size: number;
}

/** Of an environment less than of an address: it cannot use up what others on its owner's network may open. */
const defaults: Limits = { perEnvironment: 500, perAddress: 2000 };

export function createOpenExchanges(given: Partial<Limits>): OpenExchanges {
  const limits = { ...defaults, ...given };
  // An array with indexes: hashing for a Set costs more than all else that is done here for a request.
  const open: OpenExchange[] = [];
  const perEnvironment = new Map<string, number>();
  const perAddress = new Map<string, number>();
  return {
    limitOf(environmentId, address) {
      if ((perEnvironment.get(environmentId) ?? 0) >= limits.perEnvironment) return "environment";
      return (perAddress.get(address) ?? 0) >= limits.perAddress ? "address" : undefined;
    },
    add(exchange) {
      exchange.index = open.push(exchange) - 1;
      count(perEnvironment, exchange.environmentId, 1);
      count(perAddress, exchange.address, 1);
    },
    remove(exchange) {
      if (exchange.index === -1) return;
      const last = open.pop();
      if (last && last !== exchange) {
        open[exchange.index] = last;
        last.index = exchange.index;
      }
      exchange.index = -1;
      count(perEnvironment, exchange.environmentId, -1);
      count(perAddress, exchange.address, -1);
    },
    endUnless(isAllowed) {
      for (const exchange of [...open]) if (!isAllowed(exchange)) exchange.destroy?.();
    },
    get size() {
      return open.length;
    },
  };
}

function count(counts: Map<string, number>, key: string, step: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + step;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}
