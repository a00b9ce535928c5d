import { timeLeft } from "../../format.ts";
import classes from "./time-left.module.css";

interface Props {
  readonly expiresAt: string | null;
  /** Booked hours, the full length of the line. */
  readonly hours: number;
  /** Milliseconds since the epoch, from `useNow`. */
  readonly now: number;
  /** The clock runs, but nothing computes. */
  readonly held?: boolean;
}

/** The remaining paid time as a shrinking line, amber in the last tenth. */
export function TimeLeft({ expiresAt, hours, now, held = false }: Props) {
  const leftMs = expiresAt ? Date.parse(expiresAt) - now : 0;
  const share = Math.min(1, Math.max(0.02, leftMs / (hours * 3_600_000) || 0));
  return (
    <span className={classes.time} data-low={share < 0.1 || undefined} data-held={held || undefined}>
      <span className="num">{timeLeft(expiresAt, now)}</span>
      <span className={classes.track} aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
