import { Portal } from "@mantine/core";
import { useUnit } from "../../api/use-unit.ts";
import { Mark } from "../../ui/display/logo.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { Status, type Tone } from "../../ui/display/status.tsx";
import type { Draft } from "../draft/draft.ts";
import { priceLines } from "../draft/price-lines.ts";
import type { Failure, LaunchState } from "../purchase/launch-state.ts";
import { failureTitle, moneyText } from "../purchase/money-text.ts";
import { SeeOrder } from "../purchase/see-order.tsx";
import classes from "./step-launch.module.css";

interface Props {
  readonly state: LaunchState;
  readonly draft: Draft;
  /** A code covers it (G332). */
  readonly isCovered: boolean;
}

/** The state of the launch in one sentence (spec 4.4). */
export function LaunchLead({ state, draft, isCovered }: Props) {
  if (state.phase === "ready")
    return (
      <p className={classes.eyebrow} role="status">
        <Status value="active" />
        <span>Environment ready! Redirecting...</span>
      </p>
    );
  if (state.phase === "creating")
    return (
      <p className={classes.eyebrow} role="status">
        <Mark size={20} docking />
        {state.cancelling ? "Cancelling the launch..." : creatingText(state)}
      </p>
    );
  if (state.phase === "failed") {
    const { failure } = state;
    return (
      <div className={classes.notice}>
        <Notice tone={toneOf(failure)} title={failureTitle(failure)} action={<SeeOrder failure={failure} />} alert>
          {!failure.cancelled && failure.message} {moneyText(failure.money, priceLines(draft).charged)}
        </Notice>
      </div>
    );
  }
  return (
    <>
      <p className={classes.lead}>
        {isCovered ? "Your code covers it: Launch starts it at once." : "Launch opens the payment dialog."} These stages
        follow, each with its time.
      </p>
      {state.phase !== "idle" && <Overlay phase={state.phase} />}
    </>
  );
}

function creatingText({ isCovered = false }: { readonly isCovered?: boolean }): string {
  return isCovered
    ? "Your code covers it. Creating your environment..."
    : "Payment successful! Creating your environment...";
}

/** Nothing is known to have failed while the payment is being checked. */
function toneOf({ cancelled, money }: Failure): Tone {
  if (cancelled) return "rest";
  return money === "being_checked" ? "hold" : "fail";
}

/** While launching (spec 2.9), below the payment dialog. */
function Overlay({ phase }: { readonly phase: "ordering" | "paying" | "clearing" }) {
  const unit = useUnit();
  return (
    <Portal>
      <div className={classes.overlay} role="status" data-overlay>
        <Mark size={28} docking />
        {phase === "ordering" && `Reserving ${unit.all} and name...`}
        {phase === "paying" && "Waiting for the payment..."}
        {phase === "clearing" && `Releasing ${unit.all} and name...`}
      </div>
    </Portal>
  );
}
