import type { Config } from "../config/config.ts";
import { speakingDefaults } from "../config/speaking-defaults.ts";
import { trustedProxies } from "../http/client-address.ts";
import { isServer } from "./listen-place.ts";

/** Settings that are allowed, but probably not meant. */
export function settingWarnings(config: Config): string[] {
  const { appUrl, trustProxy, metrics } = config;
  return [
    ...loopbackWarnings(config),
    ...(isServer(config) || metrics.port !== undefined
      ? []
      : ["A worker alone has no address: set METRICS_PORT for its /healthz and /readyz."]),
    ...speakingDefaults(config),
    ...splitProvider(config),
    ...(appUrl?.startsWith("https:") && !trustProxy
      ? [
          "TRUST_PROXY is not set, though https needs a proxy in front: all clients count as one address, for rate limits and logs. Set it to the proxy's addresses.",
        ]
      : []),
  ];
}

/** Environments of the process driver are clients of this machine's loopback as any program on it is. */
function loopbackWarnings(config: Config): string[] {
  const { runtime, processNetwork, metrics, trustProxy } = config;
  if (runtime !== "process" || processNetwork !== "shared") return [];
  return [
    ...(metrics.port !== undefined && metrics.token === undefined
      ? ["A notebook can read /metrics, which say how much is sold: set METRICS_TOKEN, or PROCESS_NETWORK=off."]
      : []),
    ...(isServer(config) && ["127.0.0.1", "::1"].some((address) => trustedProxies(trustProxy)(address, 0))
      ? [
          "A notebook can pass for your proxy and name any client's address, so limits by network do not hold for it: set PROCESS_NETWORK=off, or RUNTIME=docker.",
        ]
      : []),
  ];
}

/** Its payments are made known by a worker, and no webhook of a provider comes from outside (G115). */
function splitProvider({ payments, roles }: Config): string[] {
  if (payments.kind !== "embedded" || roles.has("worker") || !roles.has("api")) return [];
  return [
    "Payments are test payments of the embedded provider: without a process with the role worker none is delivered.",
  ];
}
