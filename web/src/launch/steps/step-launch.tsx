import type { Capacity, ProductConfig } from "@berth/contract";
import { timelineOf } from "../../environments/lifecycle/timeline-of.ts";
import { hostName } from "../../format.ts";
import { LaunchTimeline } from "../../ui/display/launch-timeline.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Draft, Step } from "../draft/draft.ts";
import { ChangeButton } from "../purchase/change-button.tsx";
import type { LaunchState } from "../purchase/launch-state.ts";
import type { Launch } from "../purchase/use-launch.ts";
import { useLaunchedEnvironment } from "../purchase/use-launched-environment.ts";
import { LaunchAfter } from "./launch-after.tsx";
import { LaunchLead } from "./launch-lead.tsx";
import classes from "./step-launch.module.css";

interface Props {
  readonly userId: string;
  readonly draft: Draft;
  readonly launch: Launch;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  readonly goTo: (step: Step) => void;
  readonly isCovered: boolean;
}

/** The address, the state, and the timeline of the environment's stamps. */
export function StepLaunch({ userId, draft, launch, config, capacity, goTo, isCovered }: Props) {
  const { state } = launch;
  const name = draft.subdomain.trim();
  const { id, environment } = useLaunchedEnvironment(userId, name, state.phase === "creating");
  const elapsed = useElapsed(state);
  const figures = capacity?.launch ?? undefined;
  const launching = state.phase === "creating" || state.phase === "ready";
  return (
    <>
      <h2 className={classes.address}>{config ? hostName(config.environmentUrl, name) : name}</h2>
      {/* The loading overlay of a launch (spec 2.9), with its stages. */}
      <div className={launching ? `panel ${classes.launching}` : undefined} data-overlay={launching || undefined}>
        <LaunchLead state={state} draft={draft} isCovered={isCovered} />
        {state.phase === "idle" && state.problem && (
          <div className={classes.notice}>
            <Notice
              tone="hold"
              title={state.problem.message}
              action={<ChangeButton problem={state.problem} goTo={goTo} />}
            />
          </div>
        )}
        {/* A failure without a stamp has no failed stage. */}
        {!(state.phase === "failed" && environment === undefined) && (
          <div className={classes.timeline}>
            <LaunchTimeline
              stages={timelineOf(environment?.stages ?? [], environment?.stage_percent, environment?.waits_for)}
              elapsed={elapsed}
              {...(figures && { median: figures.p50_ms / 1000 })}
              state={timelineState(state)}
            />
          </div>
        )}
        <LaunchAfter
          state={state}
          figures={figures}
          onCancel={id === undefined ? undefined : () => launch.cancel(id)}
          onRetry={() => {
            launch.reset();
            goTo(3);
          }}
        />
      </div>
    </>
  );
}

/** Seconds since the payment, by this browser's clock. */
function useElapsed(state: LaunchState): number {
  const now = useNow(state.phase === "creating" ? 100 : 60_000);
  if (state.phase === "creating") return Math.max(0, now - state.paidAt) / 1000;
  return state.phase === "ready" ? (state.readyAt - state.paidAt) / 1000 : 0;
}

function timelineState(state: LaunchState): "idle" | "running" | "failed" {
  // A cancelled launch has no failed stage.
  if (state.phase === "failed" && state.failure.cancelled) return "idle";
  if (state.phase === "failed") return state.failure.money === "being_checked" ? "running" : "failed";
  return state.phase === "creating" || state.phase === "ready" ? "running" : "idle";
}
