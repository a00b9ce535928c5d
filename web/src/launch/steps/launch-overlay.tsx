import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./step-launch.module.css";

interface Props {
  /** The address of the environment. */
  readonly title: string;
  readonly children: ReactNode;
}

/**
 * The loading overlay of a launch (spec 2.9, G302): over the whole window, with the focus inside. Only its own link leads
 * away. The focus begins at the title, lest a late Enter of the payment cancels the launch.
 */
export function LaunchOverlay({ title, children }: Props) {
  return (
    <Modal.Root
      opened
      fullScreen
      closeOnEscape={false}
      closeOnClickOutside={false}
      onClose={stay}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Content data-overlay className={classes.page ?? ""}>
        <Modal.Body className={classes.cover ?? ""}>
          <div>
            <Modal.Title className={classes.address ?? ""} tabIndex={-1} data-autofocus>
              {title}
            </Modal.Title>
            {children}
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function stay(): void {}
