import type * as client from "@prometheus-io/client";
import { Counter, Gauge, Histogram, Registry } from "./metric-types.ts";

export type Metrics = ReturnType<typeof createMetrics>;

/** What one process counts by itself, and its registry (docs/operate/monitor.md). No label has a value that a user chooses. */
export function createMetrics() {
  const registry = new Registry();
  const own = { registers: [registry] };
  const metrics = { registry, ...requestMetrics(own), ...outsideMetrics(own), ...followedMetrics(own) };
  // A series that begins above 0 is no increase to Prometheus: the first of these would raise no alarm.
  for (const event of fatalEvents) metrics.logLines.inc({ level: "fatal", event }, 0);
  for (const result of ["sent", "refused", "failed"]) metrics.mailAttempts.inc({ result }, 0);
  return metrics;
}

/** Events of the log that somebody has to act on at once (docs/operate/logs.md). */
const fatalEvents = ["environment.machine_lost", "firewall.leak", "gpu.silent", "gpu.quarantined", "home.missing"];

interface Own {
  registers: client.Registry[];
}

function requestMetrics(own: Own) {
  return {
    requests: new Counter({
      name: "berth_http_requests_total",
      help: "Requests to the app and its API that ended, by route and class of the status; aborted: no answer was sent.",
      labelNames: ["method", "route", "status"],
      ...own,
    }),
    requestSeconds: new Histogram({
      name: "berth_http_request_seconds",
      help: "Time from a request to the end of its answer, without streams.",
      labelNames: ["route"],
      buckets: [0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
      ...own,
    }),
    openRequests: new Gauge({
      name: "berth_http_open_requests",
      help: "Requests to the app and its API in progress, streams among them.",
      labelNames: ["route"],
      ...own,
    }),
    logLines: new Counter({
      name: "berth_log_lines_total",
      help: "Lines of the log by level and event, those of a repeated failure too.",
      labelNames: ["level", "event"],
      ...own,
    }),
  };
}

function outsideMetrics(own: Own) {
  return {
    providerCalls: new Counter({
      name: "berth_provider_calls_total",
      help: "Calls of the payment provider. ok and refused: it answered. limited: it refused one of too many. unavailable: no answer, or an error of its own.",
      labelNames: ["call", "result"],
      ...own,
    }),
    providerDelays: new Counter({
      name: "berth_provider_delayed_calls_total",
      help: "Calls of the payment provider that waited for their turn, because it limits calls or so many polls were due.",
      labelNames: ["lane"],
      ...own,
    }),
    providerSeconds: new Histogram({
      name: "berth_provider_call_seconds",
      help: "Time that calls of the payment provider took.",
      labelNames: ["call"],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ...own,
    }),
    providerUp: withoutValue({
      name: "berth_provider_up",
      help: "Whether the payment provider answered the last call of this process.",
      ...own,
    }),
    mailAttempts: new Counter({
      name: "berth_mail_attempts_total",
      help: "Attempts to send a mail. refused: the mail server refused it for good. failed: it is tried again.",
      labelNames: ["result"],
      ...own,
    }),
    mailServerUp: withoutValue({
      name: "berth_mail_server_up",
      help: "Whether the last attempt to send a mail had an answer: taken, or refused for good.",
      ...own,
    }),
  };
}

/** Counted from rows of the database, by workers only: money from the first, launches from those since this process's start. */
function followedMetrics(own: Own) {
  return {
    money: new Counter({
      name: "berth_money_minor_total",
      help: "Money by the whole ledger, in minor units: paid, refunded, lost (in disputes) and fees. The same at each worker.",
      labelNames: ["kind", "currency"],
      ...own,
    }),
    launchSeconds: new Histogram({
      name: "berth_launch_seconds",
      help: "Time from the payment to each stage of a first launch; warm: with a container that stood ready.",
      labelNames: ["stage", "warm"],
      buckets: [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
      ...own,
    }),
  };
}

/** A gauge without labels begins at 0, which would raise an alarm before anything happened. */
export function withoutValue(configuration: { name: string; help: string } & Own): client.Gauge {
  const gauge = new Gauge(configuration);
  gauge.remove();
  return gauge;
}
