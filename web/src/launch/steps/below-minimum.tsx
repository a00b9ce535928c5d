import { Notice } from "../../ui/display/notice.tsx";
import type { Draft } from "../draft/draft.ts";
import type { MinimumOption } from "../draft/price-lines.ts";
import classes from "./below-minimum.module.css";

/** Warns before the payment: the provider refuses smaller charges (G73). */
export function BelowMinimum({
  options,
  minimum,
  onChange,
}: {
  readonly options: readonly MinimumOption[];
  readonly minimum: string;
  readonly onChange: (part: Partial<Draft>) => void;
}) {
  return (
    <div className={classes.minimum}>
      <Notice tone="hold" title={`The smallest card payment is ${minimum}`} alert>
        <span className={classes.options}>
          These reach it:
          {options.map(({ label, change }) => (
            <button key={label} type="button" className="link target" onClick={() => onChange(change)}>
              {label}
            </button>
          ))}
        </span>
      </Notice>
    </div>
  );
}
