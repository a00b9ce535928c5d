import { type CountsElsewhere, nothingElsewhere } from "../../database/counts-elsewhere.ts";
import type { Run } from "../target/run.ts";

export interface Limits {
  /** Concurrent requests and WebSockets. */
  readonly perEnvironment: number;
  readonly perAddress: number;
}

/** A request, WebSocket or SSH connection in progress, with its authorization. */
export interface OpenExchange {
  readonly subdomain: string;
  readonly environmentId: string;
  /** The rate limit key of the client's address (`addressKey`). */
  readonly address: string;
  readonly run: Run;
  /** Exactly one of the two is set: the grant's id, or the environment secret that the client sent as its token. */
  readonly grantId: string | undefined;
  readonly secret: string | undefined;
  /** Of an SSH connection, which ends with a pause too: its client would wait without a word. */
  readonly isSsh?: true;
  /** Closes both sides at once; undefined until the exchange has begun. */
  destroy: (() => void) | undefined;
  /** Of a WebSocket: tells the browser to connect again, and ends it. */
  leave?: () => void;
  /** Its index in the list of all; -1 when it is not in it. */
  index: number;
}

/** All exchanges in progress, counted by environment and by address, with those of other gateways. */
export interface OpenExchanges {
  /** The limit that one more exchange would exceed. */
  limitOf(environmentId: string, address: string): "environment" | "address" | undefined;
  add(exchange: OpenExchange): void;
  remove(exchange: OpenExchange): void;
  /** Ends all because the gateway stops: WebSockets with the request to connect again. */
  leaveAll(): void;
  /** Tells other gateways what counts here; called at intervals. */
  announce(): Promise<void>;
  endUnless(isAllowed: (exchange: OpenExchange) => boolean): void;
  readonly size: number;
}

/** The limit of an environment is lower, so that one environment cannot exhaust the limit of its owner's network. */
const defaults: Limits = { perEnvironment: 500, perAddress: 2000 };

/** A gateway announces what has reached this part of a limit: two more gateways exceed it by a tenth at most. */
const announcedPart = 1 / 20;

export function createOpenExchanges(
  given: Partial<Limits>,
  elsewhere: CountsElsewhere = nothingElsewhere,
): OpenExchanges {
  const limits = { ...defaults, ...given };
  // An array with indexes is faster than a Set, whose hashing would dominate the cost of a request here.
  const open: OpenExchange[] = [];
  const perEnvironment = new Map<string, number>();
  const perAddress = new Map<string, number>();
  return {
    limitOf(environmentId, address) {
      const ofEnvironment = (perEnvironment.get(environmentId) ?? 0) + elsewhere.of(environmentId);
      if (ofEnvironment >= limits.perEnvironment) return "environment";
      const ofAddress = (perAddress.get(address) ?? 0) + elsewhere.of(address);
      return ofAddress >= limits.perAddress ? "address" : undefined;
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
    announce: () =>
      elsewhere.announce([
        ...largeOnes(perEnvironment, limits.perEnvironment),
        ...largeOnes(perAddress, limits.perAddress),
      ]),
    leaveAll() {
      for (const exchange of [...open]) (exchange.leave ?? exchange.destroy)?.();
    },
    endUnless(isAllowed) {
      for (const exchange of [...open]) if (!isAllowed(exchange)) exchange.destroy?.();
    },
    get size() {
      return open.length;
    },
  };
}

/** No environment's id is an address, so both have one list. */
function largeOnes(counts: ReadonlyMap<string, number>, limit: number): (readonly [string, number])[] {
  return [...counts].filter(([, open]) => open >= limit * announcedPart);
}

function count(counts: Map<string, number>, key: string, step: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + step;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}
