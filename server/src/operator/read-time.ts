import { usage } from "./parse-command.ts";

/** A day in UTC, or an instant. Throws UsageError for anything else. */
export function readTime(text: string): Date {
  const at = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime()))
    return usage(`${text} is neither a day such as 2026-11-01 nor a time such as 2026-11-01T09:00:00Z.`);
  return at;
}

/** The instant at which a day in UTC is over. */
export function endOfDay(day: Date): Date {
  return new Date(day.getTime() + 86_400_000);
}
