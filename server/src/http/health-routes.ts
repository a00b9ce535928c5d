import Fastify, { type FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";
import { memoize } from "../async/memoize.ts";
import type { Db } from "../database/database.ts";
import { handleErrors } from "./handle-errors.ts";

interface Parts {
  readonly db: Db;
  readonly version: string;
  /** How full the disk of the data folder is. */
  readonly disk: () => Promise<"ok" | "low" | "full">;
}

/** `/healthz`: the process answers. `/readyz`: its database does too, and what the disk of its data folder is like. */
export function healthRoutes(app: FastifyInstance, { db, version, disk }: Parts): void {
  // Whoever watches over the server comes by the same proxy as everybody: neither has a limit, nor costs much.
  const free = { config: { rateLimit: false as const } };
  const answers = memoize(() => db.selectFrom("installation").select("id").execute(), 1000);
  app.get("/healthz", free, async () => ({ status: "success", version }));
  app.get("/readyz", free, async () => {
    await answers().catch((cause) => {
      throw new AppError("unavailable", "The database does not answer", { cause, retryAfterSeconds: 5 });
    });
    return { status: "success", disk: await disk() };
  });
}

/** The same for probes of this machine, whatever the process's role is (G115): METRICS_PORT, on loopback. */
export async function startHealth({ port, ...parts }: Parts & { readonly port: number }): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true });
  handleErrors(app);
  healthRoutes(app, parts);
  await app.listen({ port, host: "127.0.0.1" });
  return app;
}
