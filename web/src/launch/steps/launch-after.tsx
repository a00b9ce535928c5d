import type { Capacity } from "@berth/contract";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { seconds } from "../../format.ts";
import type { LaunchState } from "../purchase/launch-state.ts";
import classes from "./step-launch.module.css";

interface Props {
  readonly state: LaunchState;
  /** Measured over the last 30 days; undefined without enough launches (G38, G310). */
  readonly figures: NonNullable<Capacity["launch"]> | undefined;
  /** Undefined until the environment is found. */
  readonly onCancel: (() => void) | undefined;
  readonly onRetry: () => void;
}

export function LaunchAfter({ state, figures, onCancel, onRetry }: Props) {
  if (state.phase === "failed") return <AfterFailure state={state} onRetry={onRetry} />;
  const usual = figures
    ? `Half of all launches are ready within ${seconds(figures.p50_ms)}, 95% within ${seconds(figures.p95_ms)}.`
    : "Launches are measured; the figures stand here after the first twenty.";
  if (state.phase !== "creating")
    return (
      <div className={classes.after}>
        <p>{usual}</p>
      </div>
    );
  return (
    <div className={classes.after}>
      <p>
        {usual} You can{" "}
        <Link className="link" to="/environments">
          leave this page
        </Link>
        ; it goes on.
      </p>
      <Button variant="default" disabled={!onCancel || state.cancelling} onClick={onCancel}>
        {state.cancelling ? "Cancelling..." : state.isCovered ? "Cancel" : "Cancel and refund"}
      </Button>
    </div>
  );
}

function AfterFailure({
  state,
  onRetry,
}: {
  readonly state: Extract<LaunchState, { readonly phase: "failed" }>;
  readonly onRetry: () => void;
}) {
  const { money, status, cancelled } = state.failure;
  const next = money === "being_checked" ? "This page goes on by itself once it is there." : "Your draft is kept.";
  return (
    <div className={classes.after}>
      <p>
        {status >= 400 && !cancelled ? `HTTP ${status}. ` : ""}
        {next}
      </p>
      {/* No retry while a payment is being checked, to avoid a duplicate payment. */}
      {money === "being_checked" ? (
        <Button component={Link} to="/environments">
          Environments
        </Button>
      ) : (
        <Button onClick={onRetry}>Try Again</Button>
      )}
    </div>
  );
}
