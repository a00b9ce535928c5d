import { type DurationHours, type GpuCount, planOf } from "@berth/contract";
import { Radio } from "@mantine/core";
import { durations } from "../../content/environment-types.ts";
import { plural } from "../../format.ts";
import { printedLabel, totalShort } from "../draft/price-lines.ts";
import classes from "./choices.module.css";

interface Props {
  readonly labelledBy: string;
  readonly gpus: GpuCount;
  readonly hours: DurationHours;
  readonly onChange: (part: { readonly hours: DurationHours }) => void;
}

export function DurationChoice({ labelledBy, gpus, hours: chosen, onChange }: Props) {
  return (
    <>
      <p className={classes.hint}>
        Totals for {plural(gpus, "GPU")}. Up to 1 week is the hourly plan, 1 month (720 hours) the monthly.
      </p>
      <Radio.Group
        role="group"
        aria-labelledby={labelledBy}
        value={String(chosen)}
        onChange={(hours) => onChange({ hours: Number(hours) as DurationHours })}
      >
        <div className={classes.times}>
          {durations.map(({ hours, label }) => (
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
