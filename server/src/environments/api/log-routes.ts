import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../app-error.ts";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import { notFound } from "../../http/mount.ts";
import { userOf } from "../../http/request-user.ts";
import { startEventStream } from "../../http/start-event-stream.ts";
import { type SignedInDeps, whileSignedIn } from "../../http/while-signed-in.ts";
import { environmentOf } from "../environment.ts";
import { runIdOf } from "../run-id.ts";

interface LogDeps extends SignedInDeps {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
}

const tail = 1000;
/** Characters of one line. */
const longestLine = 8192;
/** Each holds a file or a connection to an engine. */
const perUser = 4;
/** About the lifetime of a token: the browser reconnects with a fresh one. */
const longestMs = 10 * 60_000;

/**
 * `GET /environments/{id}/logs` (G86): the last 1,000 lines of the run and those that follow, each a JSON string in an
 * event, read by fetch with the bearer header. `event: over` ends the log of a run. A stream that ends without
 * it was cut off: the client reconnects. A sign-out ends it.
 */
export function logRoutes(app: FastifyInstance, deps: LogDeps): void {
  const { db, drivers } = deps;
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
      if ([...open].filter((each) => each.userId === userId).length >= perUser)
        throw new AppError("rate_limited", `${perUser} logs of yours are open. Close one of them.`, {
          retryAfterSeconds: 10,
        });
      reply.hijack();
      const ending = new AbortController();
      const stream = { userId, end: () => ending.abort() };
      open.add(stream);
      // The reader left, the server stops, or the run is over.
      reply.raw.on("close", stream.end);
      const unwatch = watch(deps, request, row, stream.end);
      await sendLines(
        reply.raw,
        driver.logs(runIdOf(row), { tail, follow: true, signal: ending.signal }),
        ending.signal,
      )
        .catch((error: unknown) => ending.signal.aborted || request.log.error(error))
        .finally(() => {
          unwatch();
          open.delete(stream);
          reply.raw.end();
        });
    },
  );

  app.addHook("preClose", async () => {
    for (const { end } of open) end();
  });
}

async function sendLines(stream: ServerResponse, lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const stopHeartbeat = startEventStream(stream);
  try {
    for await (const line of lines)
      if (!stream.write(`data: ${JSON.stringify(line.slice(0, longestLine))}\n\n`))
        await once(stream, "drain", { signal });
    if (!signal.aborted) stream.write("event: over\ndata: {}\n\n");
  } finally {
    stopHeartbeat();
  }
}

/** Ends the stream at a sign-out, at the end of its run, and after ten minutes. */
function watch(
  deps: LogDeps,
  request: FastifyRequest,
  { id, user_id: userId, generation }: { id: string; user_id: string; generation: number },
  end: () => void,
): () => void {
  const check = () =>
    void environmentOf(deps.db, id, userId).then(
      (row) => row?.generation === generation || end(),
      () => {},
    );
  const unsubscribe = deps.changes.subscribeUser(
    userId,
    (change) => change.kind === "environment" && change.id === id && check(),
    check,
  );
  const unwatch = whileSignedIn(deps, request, end);
  const limit = setTimeout(end, longestMs);
  return () => {
    unsubscribe();
    unwatch();
    clearTimeout(limit);
  };
}
