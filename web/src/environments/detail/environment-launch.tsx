import { useQuery } from "@tanstack/react-query";
import { capacityQuery } from "../../api/queries.ts";
import { meaningful } from "../../content/meaningful.ts";
import { unitWords } from "../../content/unit-words.ts";
import { LaunchTimeline } from "../../ui/display/launch-timeline.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Detail } from "../lifecycle/environment.ts";
import { timelineOf } from "../lifecycle/timeline-of.ts";
import classes from "./environment-page.module.css";

/** The stages of the newest start (G29, G38). */
export function EnvironmentLaunch({ environment }: { readonly environment: Detail }) {
  const { stages, stage_percent, status, ended_reason, waits_for, payment_reference, gpu } = environment;
  const running = status === "pending";
  const now = useNow(running ? 200 : 60_000);
  const { data: capacity } = useQuery({ ...capacityQuery, enabled: running, refetchInterval: false });
  const figures = meaningful(capacity?.launch);
  const lines = timelineOf(
    stages,
    stage_percent,
    waits_for,
    payment_reference === null,
    unitWords[gpu ? "gpu" : "cpu"],
  );
  const from = stages.find(({ stage }) => stage === "paid") ?? stages[0];
  const last = Math.max(0, ...lines.map(({ at }) => at ?? 0));
  const elapsed = running && from ? Math.max(0, now - Date.parse(from.at)) / 1000 : last;
  return (
    <section aria-labelledby="launch-title">
      <h2 id="launch-title" className="section-title">
        {running ? "Starting" : "Last start"}
      </h2>
      <div className={classes.timeline}>
        <LaunchTimeline
          stages={lines}
          elapsed={elapsed}
          {...(running && figures && { median: figures.p50_ms / 1000 })}
          state={
            running ? "running" : ended_reason === "not_delivered" || ended_reason === "silent" ? "failed" : "idle"
          }
        />
      </div>
    </section>
  );
}
