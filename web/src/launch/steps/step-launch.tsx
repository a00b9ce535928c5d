import type { Capacity, ProductConfig } from "@berth/contract";
import { useEffect, useEffectEvent } from "react";
import { useUnit } from "../../api/use-unit.ts";
import { meaningful } from "../../content/meaningful.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { timelineOf } from "../../environments/lifecycle/timeline-of.ts";
import { hostName } from "../../format.ts";
import { LaunchTimeline } from "../../ui/display/launch-timeline.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Draft, Step } from "../draft/draft.ts";
import { ChangeButton } from "../purchase/change-button.tsx";
import { type LaunchState, mayStillArrive } from "../purchase/launch-state.ts";
import type { Followed, Launch } from "../purchase/use-launch.ts";
import { useLaunchedEnvironment } from "../purchase/use-launched-environment.ts";
import { LaunchAfter } from "./launch-after.tsx";
import { LaunchLead } from "./launch-lead.tsx";
import { LaunchOverlay } from "./launch-overlay.tsx";
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

/** The address, the state, and the timeline of the environment's stamps; from the payment on, over the whole window. */
export function StepLaunch({ userId, draft, launch, config, capacity, goTo, isCovered: covered }: Props) {
  const { state } = launch;
  // Its hours are used once it started.
  const isCovered = covered || ((state.phase === "creating" || state.phase === "ready") && state.isCovered === true);
  const name = draft.subdomain.trim();
  const launched = useLaunchedEnvironment(userId, name, state.phase === "creating" || mayStillArrive(state));
  useFollow(launch, launched.environment);
  const address = config ? hostName(config.environmentUrl, name) : name;
  const progress = (
    <Progress
      {...{ state, draft, launched, goTo, isCovered, figures: meaningful(capacity?.launch) }}
      unit={useUnit()}
      onCancel={launch.cancel}
      onRetry={() => {
        launch.reset();
        goTo(3);
      }}
    />
  );
  if (state.phase === "creating" || state.phase === "ready")
    return <LaunchOverlay title={address}>{progress}</LaunchOverlay>;
  return (
    <>
      <h2 className={classes.address}>{address}</h2>
      {progress}
    </>
  );
}

interface ProgressProps {
  readonly state: LaunchState;
  readonly draft: Draft;
  readonly launched: ReturnType<typeof useLaunchedEnvironment>;
  readonly figures: NonNullable<Capacity["launch"]> | undefined;
  readonly goTo: (step: Step) => void;
  readonly isCovered: boolean;
  readonly unit: UnitWords;
  readonly onCancel: (environmentId: string) => void;
  readonly onRetry: () => void;
}

function Progress({ state, draft, launched, figures, goTo, isCovered, unit, onCancel, onRetry }: ProgressProps) {
  const { id, environment, unanswered } = launched;
  const elapsed = useElapsed(state);
  const problem = state.phase === "idle" ? state.problem : undefined;
  return (
    <>
      <LaunchLead state={state} draft={draft} isCovered={isCovered} />
      {problem && (
        <div className={classes.notice}>
          <Notice tone="hold" title={problem.message} action={<ChangeButton problem={problem} goTo={goTo} />} />
        </div>
      )}
      {state.phase === "creating" && unanswered && (
        <div className={classes.notice} role="status">
          <Notice tone="hold" title="The server does not answer at the moment">
            {isCovered ? "Nothing" : "You have paid, and nothing"} is lost: this page tries again and goes on by itself.
          </Notice>
        </div>
      )}
      {/* A failure without a stamp has no failed stage. */}
      {!(state.phase === "failed" && environment === undefined) && (
        <div className={classes.timeline}>
          <LaunchTimeline
            stages={timelineOf(
              environment?.stages ?? [],
              environment?.stage_percent,
              environment?.waits_for,
              isCovered,
              unit,
            )}
            elapsed={elapsed}
            {...(figures && { median: figures.p50_ms / 1000 })}
            state={timelineState(state)}
          />
        </div>
      )}
      <LaunchAfter
        state={state}
        figures={figures}
        onCancel={id === undefined ? undefined : () => onCancel(id)}
        onRetry={onRetry}
      />
    </>
  );
}

/** Hands each new status of the environment to the launch. */
function useFollow({ state, follow }: Launch, environment: Followed | undefined): void {
  const { phase } = state;
  const status = environment?.status;
  const hand = useEffectEvent(() => environment && follow(environment));
  useEffect(() => {
    if (phase === "creating" || phase === "failed") hand();
  }, [phase, status]);
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
