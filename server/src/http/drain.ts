import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const graceMs = 10_000;
const pollMs = 20;

const answers = new WeakMap<Server, ReadonlySet<ServerResponse>>();

/** Notes which requests the handler of a server is answering. Event streams are left out: they have no end. */
export function trackAnswers(server: Server, handler: RequestListener): RequestListener {
  const open = new Set<ServerResponse>();
  answers.set(server, open);
  return (request, response) => {
    if (!isStream(request)) {
      open.add(response);
      response.once("close", () => open.delete(response));
    }
    handler(request, response);
  };
}

/** The header by which a browser asks for server-sent events. */
function isStream({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/event-stream") ?? false;
}

const draining = new WeakSet<Server>();

/** Whether the server was told to stop: /readyz says so, and no connection is kept for another request. */
export function isDraining(server: Server): boolean {
  return draining.has(server);
}

interface Draining {
  /** How many more requests run that `trackAnswers` does not know. */
  readonly others: () => number;
  /** Until load balancers have noticed that it is not ready any more (G179). */
  readonly noticed: Promise<unknown>;
}

/**
 * Stops a server without cutting an answer off (G158): it says that it is not ready, then takes no new connection, answers what
 * runs for up to 10 s, and closes every connection.
 */
export async function drain(server: Server, { others, noticed }: Draining): Promise<void> {
  draining.add(server);
  await noticed;
  server.close();
  const end = performance.now() + graceMs;
  const isBusy = () => (answers.get(server)?.size ?? 0) + others() > 0;
  while (isBusy() && performance.now() < end) await sleep(pollMs);
  server.closeAllConnections();
}
