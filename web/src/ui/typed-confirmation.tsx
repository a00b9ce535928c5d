import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import classes from "./typed-confirmation.module.css";

interface Props {
  readonly opened: boolean;
  readonly title: string;
  /** What has to be typed. */
  readonly expected: string;
  /** What it does, in its own words on the button. */
  readonly action: string;
  readonly keep?: string;
  readonly busy?: boolean;
  /** Also needed, such as a password. */
  readonly ready?: boolean;
  readonly children: ReactNode;
  /** Fields after the typed one. */
  readonly more?: ReactNode;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** What cannot be taken back asks for its name, typed (G27); the words above say what is lost. */
export function TypedConfirmation({ opened, title, onClose, ...rest }: Props) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={440} transitionProps={{ duration: 120 }}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content>
        {/* Not Modal.Header: its <header> would be a second banner landmark. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title ?? ""}>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>{opened && <Form key={rest.expected} onClose={onClose} {...rest} />}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
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
