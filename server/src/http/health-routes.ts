import Fastify, { type FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { memoize } from "../async/memoize.ts";
import type { Db } from "../database/database.ts";
import { handleErrors } from "./handle-errors.ts";

interface HealthDeps {
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

/** The same on METRICS_PORT of loopback, for any role (G115). */
export async function startHealth({ port, ...deps }: HealthDeps & { readonly port: number }): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true });
  handleErrors(app);
  healthRoutes(app, deps);
  await app.listen({ port, host: "127.0.0.1" });
  return app;
}
