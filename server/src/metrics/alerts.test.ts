import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createGatewayCounts } from "../gateway/access/gateway-counts.ts";
import { findingKinds } from "../operator/doctor/finding-kinds.ts";
import { testApp } from "../testing/test-app.ts";
import { gatewayCollector } from "./gateway-collector.ts";
import { startMetrics } from "./start-metrics.ts";
import { alertRules, alertsFile } from "./testing/alert-rules.ts";

const rules = alertRules();
const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");

/** The names that a scrape of all roles in one process has, with those of the parts of histograms. */
async function metricNames(): Promise<ReadonlySet<string>> {
  const { db, database, metrics, payments } = await testApp();
  gatewayCollector({ metrics, gateway: { counts: createGatewayCounts(), openSockets: 0 } });
  const server = await startMetrics({
    ...{ port: 0, version: "1", disk: async () => "ok" as const, db, pool: database.pool, metrics, gateway: undefined },
    settings: { appUrl: "http://localhost:3000", envHost: "localhost", dataDir: tmpdir() },
    backup: undefined,
    currencies: ["USD", "INR"],
    queues: { provider: payments.provider, sendsMail: true, hasHostedAccounts: false },
  });
  onTestFinished(server.close);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  return new Set(names);
}

test("every metric in the rules and on the dashboard is in a scrape", async () => {
  const names = await metricNames();
  const panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[] = JSON.parse(
    read("deploy/grafana.json"),
  ).panels;
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(30);
  for (const expr of [...rules.map((rule) => rule.expr), ...queries]) {
    const used = expr.match(/\bberth_\w+/g) ?? [];
    expect(used.length + Number(/^up\{|ALERTS\{/.test(expr)), expr).toBeGreaterThan(0);
    for (const name of used) expect(names, expr).toContain(name);
  }
});

test("docs/operate/incidents.md has a row for every alert and every finding of doctor, and for nothing else", () => {
  const rows = [...read("docs/operate/incidents.md").matchAll(/^\| (`[^|]*) \|/gm)];
  const named = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(rules.length).toBeGreaterThan(25);
  expect(named.toSorted()).toEqual([...rules.map(({ alert }) => alert), ...findingKinds].toSorted());
});

test("the first line of each fatal event raises the alert, because its series begins at 0", async () => {
  const table = read("docs/operate/logs.md").split("| Event | Level |")[1] ?? "";
  const rows = [...table.matchAll(/^\| (`[^|]*) \| fatal \|/gm)];
  const events = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name));
  expect(events.length).toBeGreaterThan(2);
  const { metrics } = await testApp();
  const text = await metrics.registry.metrics();
  for (const event of events) expect(text).toContain(`berth_log_lines_total{level="fatal",event="${event}"} 0`);
});

const inADay = 86_400;
const evaluatedAt = 3600;
const ends = (days: number) => `${evaluatedAt + days * inADay}+0x70`;
const certificate = (days: number) => ({ 'berth_certificate_expiry_timestamp_seconds{certificate="app"}': ends(days) });
const waits = (kind: string, seconds: number) => ({
  [`berth_money_waiting_oldest_seconds{kind="${kind}",currency="USD"}`]: `${seconds}+0x70`,
});
const money = (kind: string, minor: number) => ({
  [`berth_money_waiting_minor{kind="${kind}",currency="USD"}`]: `${minor}+0x70`,
});
const constant = (series: string, value: number) => ({ [series]: `${value}+0x70` });
const launches = (seconds: 20 | 300) => ({
  'berth_launch_seconds_bucket{stage="ready",warm="no",le="20"}': seconds === 20 ? "0+1x70" : "0+0x70",
  'berth_launch_seconds_bucket{stage="ready",warm="no",le="300"}': "0+1x70",
  'berth_launch_seconds_bucket{stage="ready",warm="no",le="+Inf"}': "0+1x70",
});
const answers = (failed: number) => ({
  'berth_http_requests_total{job="berth",route="/config",status="2xx"}': `0+${100 - failed}x70`,
  'berth_http_requests_total{job="berth",route="/config",status="5xx"}': `0+${failed}x70`,
});

/** Series of Prometheus' own notation by which each alert fires after an hour, and by which it does not. */
const cases: Readonly<Record<string, { readonly bad: Record<string, string>; readonly good: Record<string, string> }>> =
  {
    BerthDown: { bad: constant('up{job="berth"}', 0), good: constant('up{job="berth"}', 1) },
    BerthRoleMissing: pair('berth_processes{role="worker"}', 0, 1),
    BerthDatabaseDown: pair("berth_database_up", 0, 1),
    BerthDatabasePoolExhausted: pair("berth_database_pool_waiting", 3, 0),
    BerthDiskLow: pair('berth_disk_free_ratio{of="data"}', 0.09, 0.11),
    BerthDiskFull: pair('berth_disk_free_ratio{of="data"}', 0.04, 0.06),
    BerthMailServerDown: pair("berth_mail_server_up", 0, 1),
    BerthMailRefused: {
      bad: { 'berth_mail_attempts_total{result="refused"}': "0+1x70" },
      good: { 'berth_mail_attempts_total{result="refused"}': "5+0x70" },
    },
    BerthProviderDown: pair("berth_provider_up", 0, 1),
    BerthHostDown: pair('berth_host_up{host="gpu-1"}', 0, 1),
    BerthGpuUnknown: pair('berth_gpus{host="gpu-1",state="unknown"}', 2, 0),
    BerthGpuQuarantined: pair('berth_gpus{host="gpu-1",state="quarantined"}', 1, 0),
    BerthEnvironmentUnknown: pair('berth_environments{status="unknown"}', 1, 0),
    BerthCertificateEndsIn30Days: { bad: certificate(29), good: certificate(31) },
    BerthCertificateEndsIn7Days: { bad: certificate(6), good: certificate(8) },
    BerthCertificateEndsIn1Day: { bad: certificate(-1), good: certificate(2) },
    BerthCertificateUnreadable: pair('berth_certificate_readable{certificate="app"}', 0, 1),
    BerthClockWrong: pair("berth_clock_offset_seconds", -60, 2),
    BerthImageMissing: pair('berth_image_missing{host="local",type="jupyter"}', 1, 0),
    BerthBackupLate: pair("berth_backup_late", 1, 0),
    BerthQueueStuck: pair('berth_queue_oldest_due_seconds{queue="orders_paid"}', 400, 3),
    BerthLaunchesSlow: { bad: launches(300), good: launches(20) },
    BerthLaunchesFail: pair('berth_launches_failed{reason="not_delivered"}', 2, 1),
    BerthDeliveryWaits: { bad: waits("delivery", 1900), good: waits("delivery", 60) },
    BerthRefundWaits: { bad: waits("refund_unsent", 4000), good: waits("refund_held", 90_000) },
    BerthRefundLost: { bad: waits("refund_sent", 900_000), good: waits("refund_sent", 90_000) },
    BerthRefundFailed: { bad: money("refund_failed", 40), good: money("refund_sent", 40) },
    BerthDisputeOpen: { bad: money("dispute", 40), good: money("delivery", 40) },
    BerthMiningSuspected: pair("berth_mining_findings", 1, 0),
    BerthErrors: { bad: answers(10), good: answers(1) },
    BerthEventLoopBlocked: pair("berth_nodejs_eventloop_lag_p99_seconds", 0.9, 0.02),
    BerthFatalLine: {
      bad: { 'berth_log_lines_total{level="fatal",event="firewall.leak"}': "0+0x55 1+0x15" },
      good: { 'berth_log_lines_total{level="fatal",event="firewall.leak"}': "1+0x70" },
    },
  };

function pair(series: string, bad: number, good: number) {
  return { bad: constant(series, bad), good: constant(series, good) };
}

/** The series with one label more: the alert of its case. */
function labelled(series: string, alert: string): string {
  return series.endsWith("}") ? `${series.slice(0, -1)},case="${alert}"}` : `${series}{case="${alert}"}`;
}

test("G339 every rule has a case, and a link to the page of the installation that says what to type", () => {
  const links = read("deploy/alerts.yaml").match(/, runbook_url: (?:&runbook '.*'|\*runbook) \}\n/g);
  expect(links).toHaveLength(rules.length);
  expect(Object.keys(cases).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

const whyNoPromtool = spawnSync("promtool", ["--version"]).error
  ? "promtool (package prometheus) is not installed"
  : "";

test.skipIf(whyNoPromtool)(
  whyNoPromtool ? `each rule fires, skipped because ${whyNoPromtool}` : "each rule fires by its fault, and not without",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-rules-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // One group for all of a kind, which is quick; the label keeps the series of the cases apart.
    const tests = (["bad", "good"] as const).map((kind) => ({
      interval: "1m",
      input_series: Object.entries(cases).flatMap(([alert, given]) =>
        Object.entries(given[kind]).map(([series, values]) => ({ series: labelled(series, alert), values })),
      ),
      promql_expr_test: Object.keys(cases).map((alert) => ({
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing",case=~"${alert}|"})`,
        eval_time: "60m",
        exp_samples: kind === "bad" ? [{ labels: "{}", value: 1 }] : [],
      })),
    }));
    const runbook_url = "https://berth.example/docs/operate/incidents#alerts";
    const summary = "The last backup is too old, or there is none.";
    const linked = {
      interval: "1m",
      input_series: [
        { series: 'berth_app_info{url="https://berth.example"}', values: "1+0x70" },
        { series: "berth_backup_late", values: "1+0x70" },
      ],
      alert_rule_test: [
        {
          ...{ alertname: "BerthBackupLate", eval_time: "60m" },
          exp_alerts: [{ exp_labels: { severity: "ticket" }, exp_annotations: { summary, runbook_url } }],
        },
      ],
    };
    const file = join(folder, "rules.yaml");
    // JSON is YAML.
    const all = { rule_files: [alertsFile], evaluation_interval: "1m", tests: [...tests, linked] };
    writeFileSync(file, JSON.stringify(all));
    expect(execFileSync("promtool", ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
  },
);
