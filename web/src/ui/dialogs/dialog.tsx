import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./dialog.module.css";

interface Props {
  readonly opened: boolean;
  readonly title: string;
  /** Pixels. */
  readonly size?: number;
  /** The content scrolls below a fixed title. */
  readonly reading?: boolean;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

export function Dialog({ opened, title, size = 440, reading, children, onClose }: Props) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={size} transitionProps={{ duration: 120 }}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content data-reading={reading || undefined}>
        {/* Not Modal.Header: its <header> would be a second banner landmark. */}
        <div className={classes.head}>
          <Modal.Title className={classes.title ?? ""}>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body className={classes.body ?? ""}>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
