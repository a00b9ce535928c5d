import { TextInput } from "@mantine/core";

interface Props {
  readonly label: string;
  readonly description?: string;
  readonly most: number;
  /** As typed. */
  readonly typed: string;
  readonly onChange: (typed: string) => void;
  readonly first?: boolean;
}

/** A whole number from 1 on. */
export function NumberField({ label, description, most, typed, onChange, first }: Props) {
  const isWrong = typed.trim() !== "" && wholeNumberOf(typed, most) === undefined;
  return (
    <TextInput
      label={label}
      description={description}
      inputMode="numeric"
      autoComplete="off"
      value={typed}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={isWrong && `A whole number from 1 to ${most}`}
      data-autofocus={first || undefined}
    />
  );
}

/** Undefined for what is no whole number from 1 to the most. */
export function wholeNumberOf(typed: string, most: number): number | undefined {
  const text = typed.trim();
  return /^[1-9]\d{0,8}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}
