import { type IdleMinutes, idleMinutes, idleSnoozeMinutes, idleWarningMinutes, planOf, plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { dateTime, duration } from "../../format.ts";
import { PlainSegments } from "../../ui/controls/plain-segments.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Detail } from "../lifecycle/environment.ts";
import classes from "./environment-idle.module.css";
import section from "./environment-section.module.css";
import { useIdleStop, useSnooze } from "./use-idle-stop.ts";

const off = "Off";
const labels: Readonly<Record<IdleMinutes, string>> = { 30: "30 min", 60: "1 h", 120: "2 h", 240: "4 h" };
const minutesOf = (label: string) => idleMinutes.find((each) => labels[each] === label) ?? null;

/** The idle stop (docs/internals/runtime.md). */
export function EnvironmentIdle({ environment }: { readonly environment: Detail }) {
  const { id, status, idle_stop, duration_hours } = environment;
  const { set, saving, saved, pending, failure } = useIdleStop(id);
  const now = useNow();
  const minutes = pending === undefined ? idle_stop.minutes : pending;
  const { last_busy_at: busyAt, snoozed_until: snoozedUntil } = idle_stop;
  return (
    <section aria-labelledby="idle-title">
      <h2 id="idle-title" className="section-title">
        Stop when idle
      </h2>
      <p className={section.lead}>
        A running cell, terminal output, work on CPU or GPU and what you do in JupyterLab keep it going; an open tab
        alone does not. A notice and a mail come {idleWarningMinutes} minutes before it stops.{" "}
        {planOf(duration_hours) === "hourly"
          ? "Stopped, its clock stands still and its files stay; what is in memory goes."
          : "Stopped, it keeps its GPUs and files, and the clock of a monthly plan runs on; what is in memory goes."}{" "}
        Code goes on while no page shows it, and{" "}
        <a className="link" href="/docs/use/output" target="_blank" rel="noreferrer">
          what it prints meanwhile is kept
        </a>
        .
      </p>
      <div className={section.controls}>
        <PlainSegments
          label="Stop when idle for"
          name="idle-stop"
          value={minutes === null ? off : labels[minutes]}
          options={[off, ...idleMinutes.map((each) => labels[each])]}
          onChange={(label) => set(minutesOf(label))}
        />
        <span role="status" className={classes.saved}>
          {saving ? "Saving..." : saved && "Saved"}
        </span>
      </div>
      {failure && (
        <p role="alert" className={classes.failed}>
          Not saved. {failure}
        </p>
      )}
      {status === "active" && idle_stop.minutes !== null && (
        <p className={classes.state}>
          {snoozedUntil !== null && Date.parse(snoozedUntil) > now && `Snoozed until ${dateTime(snoozedUntil, now)}. `}
          {busyAt !== null && lastBusy(busyAt, now)}
        </p>
      )}
    </section>
  );
}

function lastBusy(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  return seconds < 120 ? "Busy now." : `Idle for ${duration(seconds)}.`;
}

/** Warns that it will stop soon. At the top of the page, because the notice and the mail link here. */
export function IdleWarning({ environment: { id, name, status, idle_stop } }: { readonly environment: Detail }) {
  const { snooze, busy, failure } = useSnooze(id);
  const now = useNow();
  if (status !== "active" || idle_stop.stops_at === null) return null;
  const action = (
    <Button size="xs" variant="default" loading={busy} onClick={snooze}>
      Snooze {plural(idleSnoozeMinutes / 60, "hour")}
    </Button>
  );
  return (
    <div role="status">
      <Notice tone="hold" title={`${name} is idle and stops ${dateTime(idle_stop.stops_at, now)}`} action={action}>
        {failure ?? "Whatever runs before then keeps it going. An open tab alone does not."}
      </Notice>
    </div>
  );
}
