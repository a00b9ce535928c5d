import { type Change, change as changeSchema } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { userOf } from "./request-user.ts";
import { type SignedInParts, whileSignedIn } from "./while-signed-in.ts";

const heartbeatMs = 20_000;
/** A stream outlives no token by much: the browser opens the next one with a fresh one. */
const longestMs = 10 * 60_000;
/** A browser holds one, however many tabs it has. */
const perUser = 10;

/**
 * `GET /events` (G92): one stream a browser, read by fetch with the bearer header; each line says what to read again. A
 * sign-out ends it. The eleventh of a user is `rate_limited`.
 */
export function eventRoutes(app: FastifyInstance, parts: SignedInParts): void {
  const open = new Set<{ readonly userId: string; readonly end: () => void }>();

  app.get("/events", { config: { auth: "bearer" }, exposeHeadRoute: false }, (request, reply) => {
    const { id: userId } = userOf(request);
    if ([...open].filter((one) => one.userId === userId).length >= perUser)
      throw new AppError("rate_limited", `${perUser} event streams of yours are open. Close one of them.`, {
        retryAfterSeconds: 10,
      });
    reply.hijack();
    const stream = reply.raw;
    stream.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    const tell = (change: Change) => stream.write(`data: ${JSON.stringify(change)}\n\n`);
    stream.write(": connected\n\n");
    const one = { userId, end };
    open.add(one);
    const unsubscribe = parts.changes.subscribeUser(
      userId,
      (change) => {
        // Kinds that the contract does not know are between the server's own parts.
        const known = changeSchema.safeParse(change);
        if (known.success) tell(known.data);
      },
      () => tell({ kind: "environment", id: null }),
    );
    const stopWatching = whileSignedIn(parts, request, end);
    const beat = setInterval(() => stream.write(": still here\n\n"), heartbeatMs);
    const limit = setTimeout(end, longestMs);
    function quiet(): void {
      open.delete(one);
      unsubscribe();
      stopWatching();
      clearInterval(beat);
      clearTimeout(limit);
    }
    // Nothing may be written after the end: with nobody hearing its error, that would end the process.
    function end(): void {
      quiet();
      stream.end();
    }
    // Hijacking leaves Fastify's hooks behind, so only the socket says when it is over.
    stream.on("close", quiet);
  });

  app.addHook("preClose", async () => {
    for (const { end } of open) end();
  });
}
