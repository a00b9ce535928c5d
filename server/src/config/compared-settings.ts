import { createHmac } from "node:crypto";
import type { Catalogue } from "@berth/contract";
import type { Settings } from "./settings.ts";

/** What one process of an installation may have otherwise than the next: places, addresses, its own part of the work. */
const ownSettings: readonly string[] = [
  ...["PORT", "HOST", "DATA_DIR", "RUNTIMES_DIR", "DATABASE_URL", "DATABASE_LISTEN_URL", "ROLES", "DRAIN_SECONDS"],
  ...["METRICS_PORT", "METRICS_HOST", "METRICS_TOKEN", "OPERATOR_PORT", "OPERATOR_HOST", "OPERATOR_URL"],
  ...["OPERATOR_SECOND_FACTOR", "TRUST_PROXY", "LOG_LEVEL", "SSH_AUTH_SOCK", "KUBERNETES_CONFIG", "BACKUP"],
  ...["FIREBASE_SERVICE_ACCOUNT", "SSH_HOST"],
];

/** What a process with the role gateway alone needs too, so that it is compared with all. */
export const gatewaySettings: readonly string[] = ["APP_URL", "ENV_HOST"];

/** The values that all processes of an installation must have alike, by name; of the catalogue what is in the file. */
export function comparedSettings(settings: Settings, catalogue: Catalogue): Readonly<Record<string, string>> {
  const all = Object.entries({ ...settings, CATALOGUE: catalogue });
  const compared = all.filter(([name, value]) => !ownSettings.includes(name) && value !== undefined);
  return Object.fromEntries(compared.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** A short hash of each value, keyed by the installation's secret: equal values have equal ones, and none can be guessed. */
export function digestSettings(values: Readonly<Record<string, string>>, secret: Buffer): Record<string, string> {
  const digest = (name: string, value: string) =>
    createHmac("sha256", secret).update(`setting ${name} ${value}`).digest("base64url").slice(0, 12);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, digest(name, value)]));
}
