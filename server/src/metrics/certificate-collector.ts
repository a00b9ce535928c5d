import { Gauge } from "@prometheus-io/client";
import type { Db } from "../database/database.ts";
import { readCertificates } from "../operator/doctor/certificates.ts";
import type { ProcessSettings } from "../operator/process-registry.ts";
import type { Metrics } from "./create-metrics.ts";
import { keepReading } from "./keep-reading.ts";

interface CollectorDeps {
  readonly db: Db;
  readonly metrics: Pick<Metrics, "registry">;
  readonly settings: Pick<ProcessSettings, "appUrl" | "envHost" | "dataDir">;
}

const calmMs = 60_000;
/** While one ends soon or cannot be read, so that the alarm ends when it is renewed. */
const alarmedMs = 5000;
const soonMs = 31 * 86_400_000;

/** Fills the gauges of the certificates that doctor reads. A scrape never waits for them: it gets what was read before. */
export function certificateCollector({ db, metrics, settings }: CollectorDeps): () => Promise<void> {
  const registers = [metrics.registry];
  const labelNames = ["certificate"] as const;
  const expiry = new Gauge({
    name: "berth_certificate_expiry_timestamp_seconds",
    help: "When a certificate ends: of the app, of the environments, of a host's engine and the files of its client.",
    labelNames,
    registers,
  });
  const readable = new Gauge({
    name: "berth_certificate_readable",
    help: "Whether that certificate could be read.",
    labelNames,
    registers,
  });
  const read = keepReading({
    read: () => readCertificates({ db, settings, isHere: true }),
    keepMs: (found = []) => (found.every(({ end }) => end && end.getTime() - Date.now() > soonMs) ? calmMs : alarmedMs),
    waitMs: 0,
    isOldUsable: true,
  });
  return async () => {
    const found = (await read()) ?? [];
    expiry.reset();
    readable.reset();
    for (const { name: certificate, end } of found) {
      readable.set({ certificate }, end ? 1 : 0);
      if (end) expiry.set({ certificate }, Math.floor(end.getTime() / 1000));
    }
  };
}
