import type { Config } from "../config/config.ts";
import { isServer } from "./listen-place.ts";

/** Settings that are allowed, but probably not meant. */
export function settingWarnings(config: Config): string[] {
  const { appUrl, mail, trustProxy, metrics } = config;
  return [
    ...(isServer(config) || metrics.port !== undefined
      ? []
      : ["A worker alone has no address: set METRICS_PORT for its /healthz and /readyz."]),
    ...(mail.smtp || mail.outboxPage ? [] : ["SMTP_URL is not set: no mail is sent."]),
    ...(appUrl?.startsWith("https:") && !trustProxy
      ? [
          "TRUST_PROXY is not set, though https needs a proxy in front: all clients count as one address, for rate limits and logs. Set it to the proxy's addresses.",
        ]
      : []),
  ];
}
