import { longestWords } from "@berth/contract/console/orders";
import { Textarea } from "@mantine/core";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** What the owner reads, unlike the reason. */
export function WordsField({ label, value, onChange }: Props) {
  return (
    <Textarea
      label={label}
      description="By bell and by mail."
      maxLength={longestWords}
      rows={2}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
