import { Button, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import classes from "./second-factor.module.css";

interface Props {
  readonly label: string;
  readonly action: string;
  readonly busy: boolean;
  readonly error: string | null;
  /** The former error no longer holds. */
  readonly onChange: () => void;
  readonly onCode: (code: string) => void;
  /** Takes recovery codes too. */
  readonly recovery?: boolean;
  readonly danger?: boolean;
  /** A button beside the action. */
  readonly more?: ReactNode;
}

/** Asks for a code of the authenticator app. */
export function CodeField({ label, action, busy, error, onChange, onCode, recovery, danger, more }: Props) {
  const [code, setCode] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && code.trim() !== "") onCode(code.trim());
  };
  return (
    <form noValidate onSubmit={submit} aria-label="Code">
      <TextInput
        label={label}
        autoComplete="one-time-code"
        {...(!recovery && { inputMode: "numeric" as const })}
        autoCapitalize="none"
        spellCheck={false}
        value={code}
        error={error}
        data-autofocus
        autoFocus
        onChange={(event) => {
          setCode(event.currentTarget.value);
          onChange();
        }}
      />
      <div className={classes.end}>
        {more}
        <Button type="submit" loading={busy} {...(danger && { variant: "default", className: classes.danger ?? "" })}>
          {action}
        </Button>
      </div>
    </form>
  );
}
