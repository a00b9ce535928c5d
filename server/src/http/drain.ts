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

/**
 * Stops a server without cutting an answer off (G158): it takes no new connection, answers what runs for up to 10 s, then
 * closes every connection. @param others how many more requests run that `trackAnswers` does not know
 */
export async function drain(server: Server, others: () => number): Promise<void> {
  server.close();
  const end = performance.now() + graceMs;
  const isBusy = () => (answers.get(server)?.size ?? 0) + others() > 0;
  while (isBusy() && performance.now() < end) await sleep(pollMs);
  server.closeAllConnections();
}
