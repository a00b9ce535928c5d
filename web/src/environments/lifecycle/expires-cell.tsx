import { plural } from "@berth/contract";
import { dateTime, duration } from "../../format.ts";
import { TimeLeft } from "../../ui/display/time-left.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Environment } from "./environment.ts";
import classes from "./expires-cell.module.css";

/** N/A without an end, because the clock of a stopped hourly plan is paused (G24). Re-renders without its row. */
export function ExpiresCell({ environment }: { readonly environment: Environment }) {
  const now = useNow();
  const { status, expires_at, banked_seconds, duration_hours, files_until } = environment;
  if (status === "terminated") return <Ended expiresAt={expires_at} filesUntil={files_until} now={now} />;
  if (expires_at !== null)
    return <TimeLeft expiresAt={expires_at} hours={duration_hours} now={now} held={status !== "active"} />;
  if (banked_seconds > 0)
    return (
      <span className={classes.two}>
        N/A
        <small>{duration(banked_seconds)} left, clock stopped</small>
      </span>
    );
  return <span className="faint">N/A</span>;
}

/** "29 days", or "5h 10m" of the last day. */
function keptFor(keptMs: number): string {
  const days = Math.floor(keptMs / 86_400_000);
  return days > 0 ? plural(days, "day") : duration(keptMs / 1000);
}

/** The files are kept for a while after the end (G31). */
function Ended({
  expiresAt,
  filesUntil,
  now,
}: {
  readonly expiresAt: string | null;
  readonly filesUntil: string | null;
  readonly now: number;
}) {
  const keptMs = filesUntil === null ? 0 : Date.parse(filesUntil) - now;
  return (
    <span className={classes.two}>
      <span className="faint">{expiresAt === null ? "N/A" : dateTime(expiresAt, now)}</span>
      {keptMs > 0 && <small>Files kept for {keptFor(keptMs)}</small>}
    </span>
  );
}
