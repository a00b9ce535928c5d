import { plural } from "../plural.ts";
import { hoursPerMonth } from "./prices.ts";

const hoursPerWeek = 168;

/** "6 hours", "1 week", "1 month" (spec 9.1). */
export function durationLabel(hours: number): string {
  if (hours === hoursPerMonth) return "1 month";
  if (hours % hoursPerWeek === 0) return plural(hours / hoursPerWeek, "week");
  return plural(hours, "hour");
}
