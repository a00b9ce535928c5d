import { type Capacity, type ProductConfig, planOf, plural } from "@berth/contract";
import { Radio } from "@mantine/core";
import { useUnit } from "../../api/use-unit.ts";
import { isMonthlySold } from "../../content/environment-types.ts";
import type { Queue } from "../../environments/queue/use-queue.ts";
import { moveChoice, tabStopOf } from "../../ui/controls/choice-keys.ts";
import { Slots } from "../../ui/display/slots.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { countChoices, countReason, machineLine } from "../draft/choices.ts";
import type { Draft } from "../draft/draft.ts";
import { hourly, printedLabel } from "../draft/price-lines.ts";
import classes from "./choices.module.css";
import { DurationChoice } from "./duration-choice.tsx";
import { WaitOffer } from "./wait-offer.tsx";

interface Props {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly capacity: Capacity | undefined;
  readonly config: ProductConfig | undefined;
  readonly queue: Queue;
}

export function StepResources(props: Props) {
  const unit = useUnit();
  return (
    <>
      <CountChoice {...props} />
      <h2 id="time-title" className={classes.second}>
        For how long?
      </h2>
      <DurationChoice
        labelledBy="time-title"
        gpus={props.draft.gpus}
        hours={props.draft.hours}
        onChange={props.onChange}
      />
      <p className={classes.note}>
        {planOf(props.draft.hours) === "monthly"
          ? `The monthly plan holds its ${unit.all} for all 720 hours, even while stopped: guaranteed availability, 24/7 dedicated support, custom configurations, volume discount.`
          : `The hourly plan frees its ${unit.all} when you stop and banks the time that is left.${isMonthlySold() ? " The monthly plan holds them for all 720 hours." : ""}`}
      </p>
    </>
  );
}

function CountChoice({ draft, onChange, capacity, config, queue }: Props) {
  const unit = useUnit();
  const now = useNow();
  const reason = countReason(capacity, now);
  const choices = countChoices(capacity, now);
  const stop = tabStopOf(
    choices.filter(({ free, taken }) => free || taken).map(({ gpus }) => gpus),
    draft.gpus,
  );
  return (
    <>
      <h2 id="gpu-title">How many {unit.all}?</h2>
      {config && capacity?.total !== 0 && <p className={classes.hint}>{machineLine(capacity, config.gpus)}</p>}
      <Radio.Group
        role="group"
        aria-labelledby="gpu-title"
        onKeyDownCapture={moveChoice}
        value={String(draft.gpus)}
        onChange={(gpus) => onChange({ gpus: Number(gpus) })}
      >
        <div className={classes.gpus}>
          {choices.map(({ gpus, free, taken, note }) => {
            const label = free ? printedLabel(gpus, "hourly") : note;
            return (
              <Radio.Card
                key={gpus}
                value={String(gpus)}
                disabled={!free && !taken}
                data-taken={taken || undefined}
                tabIndex={gpus === stop ? 0 : -1}
                className={classes.cell ?? ""}
                radius="md"
                aria-label={`${plural(gpus, unit.one)}, ${hourly(gpus)} per hour${label && `, ${label}`}`}
              >
                <span className={classes.big}>{gpus}</span>
                <Slots filled={gpus} />
                <span className={classes.rate}>{hourly(gpus)}/h</span>
                <span className={classes.label}>{label || (gpus === 1 && "Enough to begin")}</span>
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
      <WaitOffer gpus={draft.gpus} capacity={capacity} queue={queue} />
    </>
  );
}
