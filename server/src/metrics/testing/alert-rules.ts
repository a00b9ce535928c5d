import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Samples } from "./scrape.ts";

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

const compare: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "<": (a, b) => a < b,
  ">=": (a, b) => a >= b,
  ">": (a, b) => a > b,
};

/** The series of a scrape for which a rule without functions over time is true. @throws for other rules */
export function firing({ expr }: AlertRule, samples: Samples): readonly string[] {
  const [, abs, metric, label, equals, wanted, minusNow, operator = "", limit] =
    /^(abs\()?(\w+)(?:\{(\w+)(!?=)"(\w+)"\})?\)?( - time\(\))? (==|<|>=|>) ([\d.]+)$/.exec(expr) ?? [];
  const isTrue = compare[operator];
  if (!isTrue) throw new Error(`too much for this evaluation: ${expr}`);
  const now = minusNow ? Date.now() / 1000 : 0;
  return [...samples].flatMap(([series, value]) => {
    const hasLabel = series.includes(`${label}="${wanted}"`);
    const isMeant = series.split("{")[0] === metric && (label === undefined || hasLabel === (equals === "="));
    const left = value - now;
    return isMeant && isTrue(abs ? Math.abs(left) : left, Number(limit)) ? [series] : [];
  });
}
