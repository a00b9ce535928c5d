import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { memoize } from "../async/memoize.ts";
import type { Db } from "../database/database.ts";
import { isDraining } from "./drain.ts";

export interface HealthDeps {
  readonly db: Db;
  readonly version: string;
  /** Free space on the data folder's disk. */
  readonly disk: () => Promise<"ok" | "low" | "full">;
}

/** `/healthz`: liveness of the process. `/readyz`: it is not about to stop, and its database responds; reports the data folder's disk. */
export function healthRoutes(app: FastifyInstance, { db, version, disk }: HealthDeps): void {
  // No rate limit: monitoring can share a proxy's address with all clients, and both calls are cheap.
  const free = { config: { rateLimit: false as const } };
  const ping = memoize(() => db.selectFrom("installation").select("id").execute(), 1000);
  app.get("/healthz", free, async () => ({ status: "success", version }));
  app.get("/readyz", free, async () => {
    if (isDraining(app.server))
      throw new AppError("unavailable", "This server is about to stop", { retryAfterSeconds: 5 });
    await ping().catch((cause) => {
      throw new AppError("unavailable", "The database does not answer", { cause, retryAfterSeconds: 5 });
    });
    return { status: "success", disk: await disk() };
  });
}
