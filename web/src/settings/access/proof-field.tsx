import { TextInput } from "@mantine/core";
import type { ChangeEvent } from "react";
import { PasswordField } from "../../ui/controls/password-field.tsx";

/** What a change asks for, as its reply of the server names it: a code where two-factor sign-in is on, else the password. */
export type ProofKind = "password" | "code";

interface Props {
  readonly kind: ProofKind;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (value: string) => void;
}

export function ProofField({ kind, value, error, onChange }: Props) {
  const input = {
    ...{ value, error, "data-autofocus": true },
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange(event.currentTarget.value),
  };
  if (kind === "password") return <PasswordField label="Your password" autoComplete="current-password" {...input} />;
  return (
    <TextInput
      label="Code of the app, or a recovery code"
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      {...input}
    />
  );
}
