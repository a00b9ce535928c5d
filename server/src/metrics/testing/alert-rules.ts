import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
}

export const alertsFile = fileURLToPath(new URL("../../../../deploy/alerts.yaml", import.meta.url));

/** The rules of deploy/alerts.yaml, which has one expression a line. */
export function alertRules(): readonly AlertRule[] {
  const rules = [...readFileSync(alertsFile, "utf8").matchAll(/- alert: (\w+)\n +expr: (.+)\n/g)];
  return rules.map(([, alert = "", expr = ""]) => ({ alert, expr }));
}
