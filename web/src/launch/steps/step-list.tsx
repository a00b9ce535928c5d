import type { Step } from "../draft/draft.ts";
import classes from "./step-list.module.css";

interface Props {
  readonly labels: readonly string[];
  /** 1 to 4; 5 when all are done. */
  readonly current: number;
  readonly onBack: (step: Step) => void;
  /** After the payment the earlier steps are locked. */
  readonly locked: boolean;
}

export function StepList({ labels, current, onBack, locked }: Props) {
  return (
    <ol className={classes.steps} aria-label="Progress">
      {labels.map((label, index) => {
        const step = index + 1;
        const state = step < current ? "done" : step === current ? "now" : "next";
        return (
          <li key={label} data-state={state} aria-current={state === "now" ? "step" : undefined}>
            {state === "done" && !locked ? (
              <button type="button" onClick={() => onBack(step as Step)}>
                <span>{step}</span> {label}
              </button>
            ) : (
              <p>
                <span>{step}</span> {label}
              </p>
            )}
          </li>
        );
      })}
    </ol>
  );
}
