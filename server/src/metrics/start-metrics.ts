import { hash, timingSafeEqual } from "node:crypto";
import { collectDefaultMetrics } from "@prometheus-io/client";
import Fastify from "fastify";
import { AppError } from "../app-error.ts";
import type { Database, Db } from "../database/database.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { handleErrors } from "../http/handle-errors.ts";
import { type HealthDeps, healthRoutes } from "../http/health-routes.ts";
import { noSchemas } from "../http/no-schemas.ts";
import type { BackupSchedule } from "../operator/doctor/late-backup.ts";
import type { ProcessSettings } from "../operator/process-registry.ts";
import { backupSource } from "./backup-source.ts";
import { capacitySources } from "./capacity-sources.ts";
import { certificateCollector } from "./certificate-collector.ts";
import type { Metrics } from "./create-metrics.ts";
import { databaseCollector } from "./database-collector.ts";
import { followLaunches } from "./follow-launches.ts";
import { followMoney } from "./follow-money.ts";
import { gatewayCollector } from "./gateway-collector.ts";
import { moneySources } from "./money-sources.ts";
import { processCollector } from "./process-collector.ts";
import { queueSource, type WorkedQueues } from "./queue-source.ts";

export interface MetricsDeps extends HealthDeps {
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback where it is not given. */
  readonly host?: string;
  /** What `/metrics` asks for; undefined: nothing. */
  readonly token?: string | undefined;
  readonly db: Db;
  readonly pool: Database["pool"];
  readonly settings: Pick<ProcessSettings, "appUrl" | "envHost" | "dataDir">;
  readonly metrics: Metrics;
  /** Undefined without that role. */
  readonly gateway: Gateway | undefined;
  /** Undefined without the role `worker`, which alone exports what the database knows (G130). */
  readonly queues: WorkedQueues | undefined;
  /** Codes of the currencies that are sold in. */
  readonly currencies: readonly string[];
  /** The schedule of BACKUP; undefined without one. */
  readonly backup: BackupSchedule | undefined;
  /** Least time between two reads of the database. */
  readonly keepMs?: number;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `/metrics`, `/healthz` and `/readyz` on METRICS_PORT, for any role (G115, G130). */
export async function startMetrics({ port, host = "127.0.0.1", token, ...deps }: MetricsDeps): Promise<MetricsServer> {
  const { registry } = deps.metrics;
  collectDefaultMetrics({ register: registry, prefix: "berth_" });
  const collectors = collectorsOf(deps);
  const app = Fastify({ schemaController: noSchemas, forceCloseConnections: true });
  handleErrors(app);
  healthRoutes(app, deps);
  app.get("/metrics", async ({ headers }, reply) => {
    if (token !== undefined && !isEqual(headers.authorization ?? "", `Bearer ${token}`))
      throw new AppError("unauthenticated", "METRICS_TOKEN is needed, as a bearer token");
    for (const collect of collectors) await collect();
    return reply.type(registry.contentType).send(await registry.metrics());
  });
  await app.listen({ port, host });
  return { url: app.listeningOrigin, close: () => app.close() };
}

function collectorsOf(deps: Omit<MetricsDeps, "port">): readonly (() => void | Promise<void>)[] {
  const { db, metrics, gateway, queues, currencies, keepMs = 5000 } = deps;
  const sources = queues ? [queueSource(queues), ...capacitySources, ...moneySources, backupSource(deps.backup)] : [];
  const followers = queues ? [followMoney(metrics, currencies), followLaunches(metrics)] : [];
  return [
    processCollector(deps),
    ...(gateway ? [gatewayCollector({ metrics, gateway })] : []),
    ...(queues ? [certificateCollector(deps)] : []),
    databaseCollector({ db, metrics, sources, followers, keepMs }),
  ];
}

function isEqual(given: string, wanted: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", wanted, "buffer"));
}
