import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { memoize } from "../async/memoize.ts";
import type { Db } from "../database/database.ts";

export interface HealthDeps {
  readonly db: Db;
  readonly version: string;
  /** Free space on the data folder's disk. */
  readonly disk: () => Promise<"ok" | "low" | "full">;
}

/** `/healthz`: liveness of the process. `/readyz`: its database responds too; reports the data folder's disk. */
export function healthRoutes(app: FastifyInstance, { db, version, disk }: HealthDeps): void {
  // No rate limit: monitoring can share a proxy's address with all clients, and both calls are cheap.
  const free = { config: { rateLimit: false as const } };
  const ping = memoize(() => db.selectFrom("installation").select("id").execute(), 1000);
  app.get("/healthz", free, async () => ({ status: "success", version }));
  app.get("/readyz", free, async () => {
    await ping().catch((cause) => {
      throw new AppError("unavailable", "The database does not answer", { cause, retryAfterSeconds: 5 });
    });
    return { status: "success", disk: await disk() };
  });
}
