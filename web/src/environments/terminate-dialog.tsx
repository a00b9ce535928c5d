import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Environment } from "./environment.ts";
import classes from "./terminate-dialog.module.css";

interface Props {
  /** Undefined while closed. */
  readonly environment: Environment | undefined;
  readonly retentionDays: number | undefined;
  readonly onClose: () => void;
  readonly onConfirm: (environment: Environment) => void;
}

/** The one thing that cannot be taken back asks for the name, typed (G27). */
export function TerminateDialog({ environment, retentionDays, onClose, onConfirm }: Props) {
  return (
    <Modal.Root opened={environment !== undefined} onClose={onClose} size={440} transitionProps={{ duration: 120 }}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content>
        {/* Not Modal.Header: its <header> would be a second banner landmark. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title ?? ""}>Terminate {environment?.name}?</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body>
          {environment && (
            <Confirmation
              key={environment.id}
              environment={environment}
              retentionDays={retentionDays}
              onClose={onClose}
              onConfirm={onConfirm}
            />
          )}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Confirmation({
  environment,
  retentionDays,
  onClose,
  onConfirm,
}: Props & { readonly environment: Environment }) {
  const [typed, setTyped] = useState("");
  const matches = typed.trim() === environment.subdomain;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (matches) onConfirm(environment);
  };
  const kept = retentionDays === undefined ? "kept for a while" : `kept for ${retentionDays} days`;
  return (
    <form noValidate onSubmit={submit}>
      <p className={classes.text}>
        The environment ends now, and the time that is left is not refunded. Its files are {kept} and come back when you
        launch an environment with the same name.
      </p>
      <TextInput
        label={`Type ${environment.subdomain} to confirm`}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={onClose}>
          Keep it
        </Button>
        <Button type="submit" variant="default" className={classes.danger ?? ""} disabled={!matches}>
          Terminate
        </Button>
      </div>
    </form>
  );
}
