import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import { notFound } from "../../http/mount.ts";
import { userOf } from "../../http/request-user.ts";
import { type SignedInParts, whileSignedIn } from "../../http/while-signed-in.ts";
import { environmentOf } from "../environment.ts";

interface LogDeps extends SignedInParts {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
}

const tail = 1000;
/** Of one line. */
const longestLine = 8192;
/** Each holds a file or a connection to an engine. */
const perUser = 4;
const heartbeatMs = 20_000;
/** A stream outlives no token by much: the browser opens the next one with a fresh one. */
const longestMs = 10 * 60_000;

/**
 * `GET /environments/{id}/logs` (G86): the last 1,000 lines of the run and what follows, each a JSON string in an event,
 * read by fetch with the bearer header. `event: over` says that the run is; a stream that ends without it is to be opened
 * again. A sign-out ends it.
 */
export function logRoutes(app: FastifyInstance, parts: LogDeps): void {
  const { db, drivers } = parts;
  const open = new Set<{ readonly userId: string; readonly end: () => void }>();

  app.get<{ Params: { id: string } }>(
    "/environments/:id/logs",
    { config: { auth: "bearer" }, exposeHeadRoute: false },
    async (request, reply) => {
      const { id: userId } = userOf(request);
      const row = await environmentOf(db, request.params.id, userId);
      if (!row) throw notFound();
      const driver = drivers.get(row.host_id);
      if (!driver) throw new AppError("unavailable", "These logs cannot be read here right now.");
      if ([...open].filter((one) => one.userId === userId).length >= perUser)
        throw new AppError("rate_limited", `${perUser} logs of yours are open. Close one of them.`, {
          retryAfterSeconds: 10,
        });
      reply.hijack();
      const ending = new AbortController();
      const one = { userId, end: () => ending.abort() };
      open.add(one);
      // Whoever leaves: the reader, the server, or nobody because the run is over.
      reply.raw.on("close", one.end);
      const stopWatching = watch(parts, request, row, one.end);
      await sendLines(reply.raw, driver.logs(row.id, { tail, follow: true, signal: ending.signal }), ending.signal)
        .catch((error: unknown) => ending.signal.aborted || request.log.error(error))
        .finally(() => {
          stopWatching();
          open.delete(one);
          reply.raw.end();
        });
    },
  );

  app.addHook("preClose", async () => {
    for (const { end } of open) end();
  });
}

async function sendLines(stream: ServerResponse, lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  stream.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  stream.write(": connected\n\n");
  const beat = setInterval(() => stream.write(": still here\n\n"), heartbeatMs);
  try {
    for await (const line of lines)
      if (!stream.write(`data: ${JSON.stringify(line.slice(0, longestLine))}\n\n`))
        await once(stream, "drain", { signal });
    if (!signal.aborted) stream.write("event: over\ndata: {}\n\n");
  } finally {
    clearInterval(beat);
  }
}

/** Ends the stream at a sign-out, at the end of its run, and after ten minutes. */
function watch(
  parts: LogDeps,
  request: FastifyRequest,
  { id, user_id: userId, generation }: { id: string; user_id: string; generation: number },
  end: () => void,
): () => void {
  const look = () =>
    void environmentOf(parts.db, id, userId).then(
      (row) => row?.generation === generation || end(),
      () => {},
    );
  const unsubscribe = parts.changes.subscribeUser(
    userId,
    (change) => change.kind === "environment" && change.id === id && look(),
    look,
  );
  const stopWatching = whileSignedIn(parts, request, end);
  const limit = setTimeout(end, longestMs);
  return () => {
    unsubscribe();
    stopWatching();
    clearTimeout(limit);
  };
}
