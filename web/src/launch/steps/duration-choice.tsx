import { hoursPerMonth, planOf, plural, quote } from "@berth/contract";
import { Radio } from "@mantine/core";
import { useUnit } from "../../api/use-unit.ts";
import { prices } from "../../catalogue.ts";
import { durations, isMonthlySold } from "../../content/environment-types.ts";
import { moneyShort } from "../../format.ts";
import { moveChoice, tabStopOf } from "../../ui/controls/choice-keys.ts";
import { printedLabel, totalShort } from "../draft/price-lines.ts";
import classes from "./choices.module.css";

interface Props {
  readonly labelledBy: string;
  readonly gpus: number;
  readonly hours: number;
  readonly onChange: (part: { readonly hours: number }) => void;
}

/** Which durations are of which plan, and the month beside single hours (G337); empty where there is only one plan. */
function planHint(gpus: number): string {
  const longest = durations().findLast(({ hours }) => planOf(hours) === "hourly");
  if (!longest || !isMonthlySold()) return "";
  const single = moneyShort(quote(prices(), gpus, 1, "USD").amountMinor * hoursPerMonth, "USD");
  return ` Up to ${longest.label} is the hourly plan, 1 month (${hoursPerMonth} hours) the monthly: ${totalShort(gpus, hoursPerMonth)}, where ${hoursPerMonth} single hours cost ${single}.`;
}

export function DurationChoice({ labelledBy, gpus, hours: chosen, onChange }: Props) {
  const stop = tabStopOf(
    durations().map((each) => each.hours),
    chosen,
  );
  return (
    <>
      <p className={classes.hint}>
        Totals for {plural(gpus, useUnit().one)}.{planHint(gpus)}
      </p>
      <Radio.Group
        role="group"
        aria-labelledby={labelledBy}
        onKeyDownCapture={moveChoice}
        value={String(chosen)}
        onChange={(hours) => onChange({ hours: Number(hours) })}
      >
        <div className={classes.times}>
          {durations().map(({ hours, label }) => (
            <Radio.Card
              key={hours}
              value={String(hours)}
              tabIndex={hours === stop ? 0 : -1}
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
