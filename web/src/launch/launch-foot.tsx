import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { Step } from "./draft/draft.ts";
import type { PriceLines } from "./draft/price-lines.ts";
import classes from "./launch-page.module.css";

interface Props {
  readonly step: Step;
  readonly lines: PriceLines;
  readonly blocked: boolean;
  readonly busy: boolean;
  readonly goTo: (step: Step) => void;
}

/** Back leads to the dashboard from steps 1 and 4, else one step back (spec 2.9, G56). */
export function LaunchFoot({ step, lines, blocked, busy, goTo }: Props) {
  return (
    <div className={classes.foot}>
      {step === 1 || step === 4 ? (
        <Button variant="subtle" component={Link} to="/dashboard">
          {step === 1 ? "Cancel" : "Back"}
        </Button>
      ) : (
        <Button variant="subtle" onClick={() => goTo((step - 1) as Step)}>
          Back
        </Button>
      )}
      <p aria-live="polite">
        <strong>{lines.charged}</strong>
        <span>{lines.other}</span>
      </p>
      <Button type="submit" disabled={blocked || busy}>
        {step === 4 ? "Launch" : "Continue"}
      </Button>
    </div>
  );
}
