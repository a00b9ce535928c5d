import { Button, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import classes from "./typed-confirmation.module.css";

interface Props {
  readonly opened: boolean;
  readonly title: string;
  /** The text to type. */
  readonly expected: string;
  readonly action: string;
  readonly keep?: string;
  readonly busy?: boolean;
  /** Whether the other fields, such as a password, are filled in. */
  readonly ready?: boolean;
  readonly children: ReactNode;
  /** Fields below the typed one. */
  readonly more?: ReactNode;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** A confirmation of irreversible actions: the user types the name (G27). `children` list the losses. */
export function TypedConfirmation({ opened, title, onClose, ...rest }: Props) {
  return (
    <Dialog opened={opened} title={title} onClose={onClose}>
      {opened && <Form key={rest.expected} onClose={onClose} {...rest} />}
    </Dialog>
  );
}

function Form({
  expected,
  action,
  keep = "Keep it",
  busy = false,
  ready = true,
  children,
  more,
  onClose,
  onConfirm,
}: Omit<Props, "opened" | "title">) {
  const [typed, setTyped] = useState("");
  const matches = typed.trim() === expected && ready;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (matches && !busy) onConfirm();
  };
  return (
    <form noValidate onSubmit={submit}>
      <div className={classes.text}>{children}</div>
      <TextInput
        label={`Type ${expected} to confirm`}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
      {more}
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={onClose}>
          {keep}
        </Button>
        <Button
          type="submit"
          variant="default"
          className={classes.danger ?? ""}
          disabled={!matches}
          loading={busy && matches}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
