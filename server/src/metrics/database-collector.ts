import { Gauge } from "@prometheus-io/client";
import { clockOffsetMs } from "../database/clock-offset-ms.ts";
import type { Db } from "../database/database.ts";
import { type Metrics, withoutValue } from "./create-metrics.ts";
import { type DatabaseSource, readSources } from "./database-source.ts";
import { keepReading } from "./keep-reading.ts";

interface CollectorDeps {
  readonly db: Db;
  readonly metrics: Pick<Metrics, "registry">;
  readonly sources: readonly DatabaseSource[];
  /** Count what was written since the last pass. */
  readonly followers: readonly ((db: Db) => Promise<void>)[];
  /** Least time between two passes. */
  readonly keepMs: number;
}

/** Below the ten seconds that Prometheus waits by default. */
const waitMs = 4000;

/** Fills the gauges that the database knows, in one pass for all scrapes. Without an answer they are absent; `berth_database_up` is 0. */
export function databaseCollector({ db, metrics, sources, followers, keepMs }: CollectorDeps) {
  const registers = [metrics.registry];
  const up = new Gauge({ name: "berth_database_up", help: "Whether the database answers this process.", registers });
  const offset = withoutValue({
    name: "berth_clock_offset_seconds",
    help: "How far this machine's clock is ahead of the database's, by which everything ends.",
    registers,
  });
  const gauges = new Map(
    sources.flatMap(({ labels, gauges: named }) =>
      Object.values(named).map(({ name, help }) => [name, openGauge({ name, help, labels, registers })] as const),
    ),
  );
  const read = keepReading({
    read: async () => {
      const offsetMs = await clockOffsetMs(db);
      for (const follow of followers) await follow(db);
      return { offsetMs, samples: await readSources(db, sources) };
    },
    keepMs: () => keepMs,
    waitMs,
    isOldUsable: false,
  });

  return async () => {
    const found = await read();
    up.set(found ? 1 : 0);
    for (const clear of gauges.values()) clear.clear();
    if (!found) return void offset.remove();
    offset.set(found.offsetMs / 1000);
    for (const { name, labels, value } of found.samples) gauges.get(name)?.set(labels, value);
  };
}

function openGauge({ labels, ...configuration }: GaugeOptions) {
  const gauge = new Gauge({ ...configuration, labelNames: [...labels] });
  const clear = () => (labels.length === 0 ? gauge.remove() : gauge.reset());
  clear();
  return { clear, set: (values: Readonly<Record<string, string>>, value: number) => gauge.set(values, value) };
}

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly registers: Metrics["registry"][];
}
