import { planOf } from "@berth/contract";
import { Radio } from "@mantine/core";
import { durations, isMonthlySold } from "../../content/environment-types.ts";
import { plural } from "../../format.ts";
import { printedLabel, totalShort } from "../draft/price-lines.ts";
import classes from "./choices.module.css";

interface Props {
  readonly labelledBy: string;
  readonly gpus: number;
  readonly hours: number;
  readonly onChange: (part: { readonly hours: number }) => void;
}

/** Which durations are of which plan; empty where there is only one plan. */
function planHint(): string {
  const longest = durations().findLast(({ hours }) => planOf(hours) === "hourly");
  return longest && isMonthlySold()
    ? ` Up to ${longest.label} is the hourly plan, 1 month (720 hours) the monthly.`
    : "";
}

export function DurationChoice({ labelledBy, gpus, hours: chosen, onChange }: Props) {
  return (
    <>
      <p className={classes.hint}>
        Totals for {plural(gpus, "GPU")}.{planHint()}
      </p>
      <Radio.Group
        role="group"
        aria-labelledby={labelledBy}
        value={String(chosen)}
        onChange={(hours) => onChange({ hours: Number(hours) })}
      >
        <div className={classes.times}>
          {durations().map(({ hours, label }) => (
            <Radio.Card
              key={hours}
              value={String(hours)}
              className={classes.cell ?? ""}
              radius="md"
              aria-label={`${label}, ${totalShort(gpus, hours)}`}
            >
              <span className={classes.time}>{label}</span>
              {planOf(hours) === "monthly" && (
                <span className={classes.label}>{printedLabel(gpus, "monthly") || "Monthly"}</span>
              )}
              <span className={classes.rate}>{totalShort(gpus, hours)}</span>
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
    </>
  );
}
