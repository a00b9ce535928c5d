import { pricesAt } from "@berth/contract";
import { type Config, version } from "../config/config.ts";
import { diskOf } from "../installation/free-space.ts";
import type { MetricsDeps, MetricsServer } from "../metrics/start-metrics.ts";
import type { Provider } from "../payments/provider/provider.ts";

interface ServeDeps extends Pick<MetricsDeps, "db" | "pool" | "metrics" | "gateway"> {
  readonly config: Config;
  readonly dataDir: string;
  readonly appUrl: string;
  /** Undefined in a process that neither sells nor works. */
  readonly rental: { readonly money: { readonly payments: { readonly provider: Provider } } } | undefined;
}

/** Metrics and health on METRICS_PORT, where it is set. */
export async function serveMetrics(deps: ServeDeps): Promise<MetricsServer | undefined> {
  const { config, rental, dataDir, appUrl } = deps;
  const { roles, mail, envHost, firebase } = config;
  const { port, host, token } = config.metrics;
  if (port === undefined) return undefined;
  const worker = roles.has("worker") ? rental : undefined;
  const queues = worker && {
    ...{ provider: worker.money.payments.provider, sendsMail: mail.smtp !== undefined },
    hasHostedAccounts: firebase !== undefined,
  };
  const settings = { appUrl, envHost, dataDir };
  const currencies = pricesAt(config.catalogue, new Date()).currencies.map(({ code }) => code);
  const facts = { settings, version, disk: () => diskOf(dataDir), queues, currencies, backup: config.backup };
  const { startMetrics } = await import("../metrics/start-metrics.ts");
  return await startMetrics({ ...deps, port, host, token, ...facts });
}
