import type { Capacity, DurationHours, GpuCount, ProductConfig } from "@berth/contract";
import { planOf } from "@berth/contract";
import { Radio } from "@mantine/core";
import { durations } from "../content/catalogue.ts";
import { plural } from "../format.ts";
import { Slots } from "../ui/slots.tsx";
import { useNow } from "../ui/use-now.ts";
import classes from "./choices.module.css";
import { countChoices, countReason, machineLine } from "./choices.ts";
import type { Draft } from "./draft.ts";
import { hourly, printedLabel, totalShort } from "./price-lines.ts";

interface Props {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly capacity: Capacity | undefined;
  readonly config: ProductConfig | undefined;
}

export function StepResources(props: Props) {
  return (
    <>
      <CountChoice {...props} />
      <DurationChoice {...props} />
    </>
  );
}

function CountChoice({ draft, onChange, capacity, config }: Props) {
  const now = useNow();
  const reason = countReason(capacity, now);
  return (
    <>
      <h2 id="gpu-title">How many GPUs?</h2>
      {config && <p className={classes.hint}>{machineLine(capacity, config.gpu)}</p>}
      <Radio.Group
        role="group"
        aria-labelledby="gpu-title"
        value={String(draft.gpus)}
        onChange={(gpus) => onChange({ gpus: Number(gpus) as GpuCount })}
      >
        <div className={classes.gpus}>
          {countChoices(capacity, now).map(({ gpus, free, note }) => {
            const label = free ? printedLabel(gpus, "hourly") : note;
            return (
              <Radio.Card
                key={gpus}
                value={String(gpus)}
                disabled={!free}
                className={classes.cell ?? ""}
                radius="md"
                aria-label={`${plural(gpus, "GPU")}, ${hourly(gpus)} per hour${label && `, ${label}`}`}
              >
                <span className={classes.big}>{gpus}</span>
                <Slots filled={gpus} />
                <span className={classes.rate}>{hourly(gpus)}/h</span>
                <span className={classes.label}>{label}</span>
              </Radio.Card>
            );
          })}
        </div>
      </Radio.Group>
      {reason && (
        <p className={classes.reason} role="status">
          {reason}
        </p>
      )}
    </>
  );
}

function DurationChoice({ draft, onChange }: Props) {
  return (
    <>
      <h2 id="time-title" className={classes.second}>
        For how long?
      </h2>
      <p className={classes.hint}>
        Totals for {plural(draft.gpus, "GPU")}. Up to 1 week is the hourly plan, 1 month (720 hours) the monthly.
      </p>
      <Radio.Group
        role="group"
        aria-labelledby="time-title"
        value={String(draft.hours)}
        onChange={(hours) => onChange({ hours: Number(hours) as DurationHours })}
      >
        <div className={classes.times}>
          {durations.map(({ hours, label }) => (
            <Radio.Card
              key={hours}
              value={String(hours)}
              className={classes.cell ?? ""}
              radius="md"
              aria-label={`${label}, ${totalShort(draft.gpus, hours)}`}
            >
              <span className={classes.time}>{label}</span>
              {planOf(hours) === "monthly" && (
                <span className={classes.label}>{printedLabel(draft.gpus, "monthly") || "Monthly"}</span>
              )}
              <span className={classes.rate}>{totalShort(draft.gpus, hours)}</span>
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
      <p className={classes.note}>
        {planOf(draft.hours) === "monthly"
          ? "The monthly plan holds its GPUs for all 720 hours, even while stopped: guaranteed availability, 24/7 dedicated support, custom configurations, volume discount."
          : "The hourly plan frees its GPUs when you stop and banks the time that is left. The monthly plan holds them for all 720 hours."}
      </p>
    </>
  );
}
