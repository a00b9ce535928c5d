import type { ServerResponse } from "node:http";

/** Plain numbers since the start, because a request may cost no more here; exported when they are read (metrics/). */
export interface GatewayCounts {
  /** Forwarded requests by class of the status: 2 for 2xx. 0: it ended without an answer. */
  readonly answers: number[];
  /** Requests that were refused before they were forwarded. */
  refused: number;
  /** All refusals, WebSockets' and the gateway's own pages' too, by code. */
  readonly refusals: Map<string, number>;
  /** Requests to the gateway's own pages, and redirects to the sign-in. */
  own: number;
  webSockets: number;
  openWebSockets: number;
  /** SSH connections to environments that were begun, and those in progress. */
  ssh: number;
  openSsh: number;
}

export function createGatewayCounts(): GatewayCounts {
  const http = { answers: [0, 0, 0, 0, 0, 0], refused: 0, refusals: new Map(), own: 0 };
  return { ...http, webSockets: 0, openWebSockets: 0, ssh: 0, openSsh: 0 };
}

/** Called when a forwarded request has ended. */
export function countAnswer({ answers }: GatewayCounts, { headersSent, statusCode }: ServerResponse): void {
  const index = headersSent ? Math.floor(statusCode / 100) : 0;
  answers[index] = (answers[index] ?? 0) + 1;
}
