import type { Capacity } from "@berth/contract";
import { Radio } from "@mantine/core";
import { environmentTypes } from "../../content/environment-types.ts";
import { moveChoice, tabStopOf } from "../../ui/controls/choice-keys.ts";
import { typeChoices } from "../draft/choices.ts";
import type { Draft } from "../draft/draft.ts";
import classes from "./choices.module.css";

interface Props {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly capacity: Capacity | undefined;
}

export function StepType({ draft, onChange, capacity }: Props) {
  const choices = typeChoices(capacity);
  const stop = tabStopOf(
    choices.filter(({ available }) => available).map(({ type }) => type),
    draft.type,
  );
  return (
    <>
      <h2 id="type-title">What should be installed?</h2>
      <Radio.Group
        role="group"
        aria-labelledby="type-title"
        onKeyDownCapture={moveChoice}
        value={draft.type}
        onChange={(type) => onChange({ type })}
      >
        <div className={classes.rows}>
          {environmentTypes.map(({ value, name, blurb, packages }) => {
            const choice = choices.find(({ type }) => type === value);
            return (
              <Radio.Card
                key={value}
                value={value}
                tabIndex={value === stop ? 0 : -1}
                disabled={choice?.available === false}
                className={classes.row ?? ""}
                radius={0}
                aria-label={name}
                aria-describedby={`about-${value}`}
              >
                <Radio.Indicator size="xs" />
                <span id={`about-${value}`}>
                  <strong>{name}</strong>
                  <span className={classes.blurb}>{blurb}</span>
                  {choice?.note && <span className={classes.why}>{choice.note}</span>}
                </span>
                <span className={`mono ${classes.packages}`}>
                  {packages.map((item) => (
                    <span key={item}>{item}</span>
                  ))}
                </span>
              </Radio.Card>
            );
          })}
        </div>
      </Radio.Group>
      <p className={classes.note}>Anything else installs with pip, stays on your disk and is there next time.</p>
    </>
  );
}
