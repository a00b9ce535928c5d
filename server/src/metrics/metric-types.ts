import { createRequire } from "node:module";
import type * as client from "@prometheus-io/client";

/** The package's entry loads metrics of OpenTelemetry too, 75 modules, which only a process with METRICS_PORT needs. */
const require = createRequire(import.meta.url);

export const Counter: typeof client.Counter = require("@prometheus-io/client/lib/counter");
export const Gauge: typeof client.Gauge = require("@prometheus-io/client/lib/gauge");
export const Histogram: typeof client.Histogram = require("@prometheus-io/client/lib/histogram");
export const Registry: typeof client.Registry = require("@prometheus-io/client/lib/registry");
