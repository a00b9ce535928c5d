import { Radio } from "@mantine/core";
import classes from "./choice-cards.module.css";

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly title: string;
  /** What follows from it. */
  readonly lines: readonly string[];
}

interface Props<Value extends string> {
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of several things to do, each with what follows from it. */
export function ChoiceCards<Value extends string>({ label, choices, value, onChange }: Props<Value>) {
  const choose = (chosen: string) => {
    const known = choices.find((each) => each.value === chosen);
    if (known) onChange(known.value);
  };
  return (
    <Radio.Group label={label} value={value} onChange={choose}>
      <div className={classes.choices}>
        {choices.map(({ value: own, title, lines }) => (
          <Radio.Card key={own} value={own} className={classes.choice ?? ""} aria-label={title}>
            <Radio.Indicator size="xs" />
            <span>
              <strong>{title}</strong>
              {lines.map((line) => (
                <small key={line}>{line}</small>
              ))}
            </span>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  );
}
