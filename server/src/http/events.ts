import { type Change, change as changeSchema } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import type { Changes } from "../database/changes.ts";
import { userOf } from "./session.ts";

const heartbeatMs = 20_000;
/** A stream outlives no token by much: the browser opens the next one with a fresh one. */
const longestMs = 10 * 60_000;

/** `GET /events` (G92): one stream a user, read by fetch with the bearer header; each line says what to read again. */
export function eventRoutes(app: FastifyInstance, changes: Changes): void {
  const open = new Set<() => void>();

  app.get("/events", { config: { auth: "bearer" } }, (request, reply) => {
    const { id: user } = userOf(request);
    reply.hijack();
    const stream = reply.raw;
    stream.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    const tell = (change: Change) => stream.write(`data: ${JSON.stringify(change)}\n\n`);
    stream.write(": connected\n\n");
    const unsubscribe = changes.subscribe(
      (change) => {
        // Kinds that the contract does not know are between the server's own parts.
        const told = changeSchema.safeParse(change);
        if (change.user === user && told.success) tell(told.data);
      },
      () => tell({ kind: "environment", id: null }),
    );
    const beat = setInterval(() => stream.write(": still here\n\n"), heartbeatMs);
    const limit = setTimeout(end, longestMs);
    open.add(end);
    function quiet(): void {
      open.delete(end);
      unsubscribe();
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
    for (const end of open) end();
  });
}
