import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import classes from "./typed-confirmation.module.css";

interface Props {
  readonly opened: boolean;
  readonly title: string;
  readonly action: string;
  readonly keep: string;
  readonly busy: boolean;
  /** The consequences of confirming. */
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** A confirmation of actions that lose no data. */
export function Confirmation({ opened, title, action, keep, busy, children, onClose, onConfirm }: Props) {
  return (
    <Dialog opened={opened} title={title} onClose={onClose}>
      <div className={classes.text}>{children}</div>
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={onClose} data-autofocus>
          {keep}
        </Button>
        <Button variant="default" loading={busy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
