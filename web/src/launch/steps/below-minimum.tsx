import { useUnit } from "../../api/use-unit.ts";
import { Notice } from "../../ui/display/notice.tsx";
import type { Draft } from "../draft/draft.ts";
import { changeLabel } from "../draft/price-lines.ts";
import classes from "./below-minimum.module.css";

/** Warns before the payment: the provider refuses smaller charges (G73). */
export function BelowMinimum({
  options,
  minimum,
  onChange,
}: {
  readonly options: readonly Partial<Draft>[];
  readonly minimum: string;
  readonly onChange: (part: Partial<Draft>) => void;
}) {
  const unit = useUnit();
  return (
    <div className={classes.minimum}>
      <Notice tone="hold" title={`The smallest payment is ${minimum}`} alert>
        <span className={classes.options}>
          These reach it:
          {options.map((change) => (
            <button
              key={changeLabel(change, unit)}
              type="button"
              className="link target"
              onClick={() => onChange(change)}
            >
              {changeLabel(change, unit)}
            </button>
          ))}
        </span>
      </Notice>
    </div>
  );
}
