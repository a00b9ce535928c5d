import { existsSync } from "node:fs";
import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { Gauge } from "@prometheus-io/client";
import type { Database } from "../database/database.ts";
import { diskSpaceOf } from "../installation/free-space.ts";
import type { ProcessSettings } from "../operator/process-registry.ts";
import type { Metrics } from "./create-metrics.ts";

interface CollectorDeps {
  readonly metrics: Pick<Metrics, "registry">;
  readonly pool: Database["pool"];
  readonly settings: Pick<ProcessSettings, "appUrl" | "dataDir">;
}

/** Fills the gauges of this process and its machine: connections to the database, free disk. */
export function processCollector({ metrics, pool, settings }: CollectorDeps): () => Promise<void> {
  const registers = [metrics.registry];
  const { appUrl, dataDir } = settings;
  const app = new Gauge({
    name: "berth_app_info",
    help: "1, with the address of the app, whose pages the alerts link to.",
    labelNames: ["url"],
    registers,
  });
  app.set({ url: appUrl }, 1);
  const connections = new Gauge({
    name: "berth_database_pool_connections",
    help: "Connections to the database, busy and idle.",
    labelNames: ["state"],
    registers,
  });
  const waiting = new Gauge({
    name: "berth_database_pool_waiting",
    help: "Queries that wait for a connection to the database.",
    registers,
  });
  const labelNames = ["of"] as const;
  const help = "Free space of the file systems with the data folder and with the homes";
  const free = new Gauge({ name: "berth_disk_free_bytes", help: `${help}.`, labelNames, registers });
  const ratio = new Gauge({ name: "berth_disk_free_ratio", help: `${help}, 0 to 1.`, labelNames, registers });

  const load = new Gauge({
    name: "berth_host_cpu_load",
    help: "Processes that ran or waited to run on this machine, on average of a minute, for each core.",
    registers,
  });
  const memory = new Gauge({
    name: "berth_host_memory_free_ratio",
    help: "Memory of this machine that programs may still take, 0 to 1.",
    registers,
  });

  return async () => {
    load.set((loadavg()[0] ?? 0) / availableParallelism());
    memory.set(freemem() / totalmem());
    const { total, idle, waiting: queued } = pool();
    connections.set({ state: "idle" }, idle);
    connections.set({ state: "busy" }, total - idle);
    waiting.set(queued);
    for (const [of, folder] of Object.entries({ data: dataDir, homes: join(dataDir, "homes") })) {
      if (!existsSync(folder)) continue;
      const { freeBytes, freePercent } = await diskSpaceOf(folder);
      free.set({ of }, freeBytes);
      ratio.set({ of }, freePercent / 100);
    }
  };
}
