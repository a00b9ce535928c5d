import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alertsFile } from "../../server/src/metrics/testing/alert-rules.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { until } from "../../testing/customer.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";

export function whyNoPrometheus(): string | undefined {
  const isAbsent = spawnSync("prometheus", ["--version"]).error !== undefined;
  return isAbsent ? "there is no prometheus: apt-get install prometheus" : undefined;
}

/** More than the four seconds that a scrape waits for the database. */
const scrapeSeconds = 6;

/**
 * A Prometheus that scrapes one process and evaluates deploy/alerts.yaml each second, with seconds for the minutes that an
 * alert waits. Returns a function that names the alerts that fire.
 */
export async function startPrometheus(target: string, stack: AsyncDisposableStack): Promise<() => Promise<string[]>> {
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const rules = join(folder, "alerts.yaml");
  writeFileSync(rules, readFileSync(alertsFile, "utf8").replaceAll(/for: (\d+)m/g, "for: $1s"));
  execFileSync("promtool", ["check", "rules", rules]);
  const config = {
    global: {
      scrape_interval: `${scrapeSeconds}s`,
      scrape_timeout: `${scrapeSeconds}s`,
      evaluation_interval: "1s",
    },
    rule_files: [rules],
    scrape_configs: [{ job_name: "berth", static_configs: [{ targets: [target] }] }],
  };
  // JSON is YAML.
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = {
    "config.file": join(folder, "prometheus.yml"),
    "storage.tsdb.path": join(folder, "data"),
    "web.listen-address": new URL(url).host,
    "log.level": "error",
  };
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const program = spawn("prometheus", words, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(program, "exit");
  stack.defer(async () => {
    program.kill("SIGTERM");
    await ended;
  });
  await until("Prometheus", async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok);
  return async () => {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as Alerts;
    const firing = data.alerts.filter(({ state }) => state === "firing");
    return [...new Set(firing.map(({ labels }) => labels.alertname))].toSorted();
  };
}

interface Alerts {
  readonly data: {
    readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[];
  };
}
