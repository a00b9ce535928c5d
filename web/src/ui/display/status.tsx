import type { Status as StatusValue } from "@berth/contract";
import type { ReactNode } from "react";
import classes from "./status.module.css";

const glyphs: Record<StatusValue, ReactNode> = {
  active: (
    <>
      <circle cx="7" cy="7" r="6" fill="currentColor" opacity=".22" />
      <circle cx="7" cy="7" r="3.25" fill="currentColor" />
    </>
  ),
  pending: (
    <g className={classes.turning} fill="none" stroke="currentColor" strokeWidth="1.75">
      <circle cx="7" cy="7" r="5" opacity=".28" />
      <path d="M7 2a5 5 0 0 1 5 5" strokeLinecap="round" />
    </g>
  ),
  paused: <path d="M4 2.5h2v9H4zM8 2.5h2v9H8z" fill="currentColor" />,
  stopped: <rect x="3" y="3" width="8" height="8" rx="1" fill="none" stroke="currentColor" strokeWidth="1.75" />,
  terminated: <path d="m3.5 3.5 7 7m0-7-7 7" stroke="currentColor" strokeWidth="1.75" strokeLinecap="round" />,
  unknown: (
    <circle cx="7" cy="7" r="5" fill="none" stroke="currentColor" strokeWidth="1.75" strokeDasharray="2.6 2.6" />
  ),
};

const labels: Record<StatusValue, string> = {
  active: "Active",
  pending: "Pending",
  paused: "Paused",
  stopped: "Stopped",
  terminated: "Terminated",
  unknown: "Unknown Status",
};

/** A status by color, text and shape. `stage` replaces the text while pending. */
export function Status({ value, stage }: { value: StatusValue; stage?: string | undefined }) {
  return (
    <span className={classes.status} data-status={value}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        {glyphs[value]}
      </svg>
      {stage ?? labels[value]}
    </span>
  );
}

export type Tone = "live" | "wait" | "hold" | "fail" | "rest";

/** A short fact other than an environment's status: Paid, Refunded, Test mode. */
export function Tag({ tone = "rest", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={classes.tag} data-tone={tone}>
      {children}
    </span>
  );
}
