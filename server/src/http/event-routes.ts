import { type Change, change as changeSchema } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { userOf } from "./request-user.ts";
import { startEventStream } from "./start-event-stream.ts";
import { type SignedInDeps, whileSignedIn } from "./while-signed-in.ts";

/** Limits how long a stream outlives its token; the browser reconnects with a fresh one. */
const maxMs = 10 * 60_000;
/** All tabs of a browser share one stream. */
const perUser = 10;

/**
 * `GET /events` (G92): server-sent events, read by fetch with the bearer header; each event names what to refetch. A
 * sign-out ends the stream. More than ten per user are `rate_limited`.
 */
export function eventRoutes(app: FastifyInstance, deps: SignedInDeps): void {
  const open = new Set<{ readonly userId: string; readonly end: () => void }>();

  app.get("/events", { config: { auth: "bearer" }, exposeHeadRoute: false }, (request, reply) => {
    const { id: userId } = userOf(request);
    if ([...open].filter((one) => one.userId === userId).length >= perUser)
      throw new AppError("rate_limited", `${perUser} event streams of yours are open. Close one of them.`, {
        retryAfterSeconds: 10,
      });
    reply.hijack();
    const stream = reply.raw;
    const stopHeartbeat = startEventStream(stream);
    const send = (change: Change) => stream.write(`data: ${JSON.stringify(change)}\n\n`);
    const one = { userId, end };
    open.add(one);
    const unsubscribe = deps.changes.subscribeUser(
      userId,
      (change) => {
        // Kinds outside the contract are internal to the server.
        const known = changeSchema.safeParse(change);
        if (known.success) send(known.data);
      },
      () => send({ kind: "environment", id: null }),
    );
    const stopWatching = whileSignedIn(deps, request, end);
    const timeout = setTimeout(end, maxMs);
    function cleanUp(): void {
      open.delete(one);
      unsubscribe();
      stopWatching();
      stopHeartbeat();
      clearTimeout(timeout);
    }
    // A write after the end would emit an unhandled error and end the process.
    function end(): void {
      cleanUp();
      stream.end();
    }
    // A hijacked reply runs no Fastify hooks, so only the socket reports the end.
    stream.on("close", cleanUp);
  });

  app.addHook("preClose", async () => {
    for (const { end } of open) end();
  });
}
