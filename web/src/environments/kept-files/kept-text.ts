import type { listFiles, ReplyOf } from "@berth/contract";
import { plural } from "@berth/contract";
import { duration } from "../../format.ts";

export type Kept = ReplyOf<typeof listFiles>["files"][number];

/** The remaining time of files in days, or hours on the last day; files of a stopped environment stay (G31, G76). */
export function keptText({ files_until, former_id, banked_seconds }: Kept, now: number): string {
  if (files_until === null && former_id !== null) return "On the machine that failed";
  if (files_until === null)
    return banked_seconds > 0 ? `Kept: ${duration(banked_seconds)} left, clock stopped` : "Kept while it is stopped";
  const hours = (Date.parse(files_until) - now) / 3_600_000;
  if (Number.isNaN(hours)) return "Unknown";
  if (hours < 1) return "Under an hour left";
  const days = Math.floor(hours / 24);
  if (days === 0) return `${Math.floor(hours)} h left`;
  return `${plural(days, "day")} left`;
}
