import { Modal } from "@mantine/core";
import { legalTexts } from "../content/legal.ts";
import { LegalDocument } from "../legal/legal-document.tsx";
import classes from "./support-page.module.css";

/** `path` is the document's route; undefined while closed. */
export function LegalModal({ path, onClose }: { readonly path: string | undefined; readonly onClose: () => void }) {
  const text = path === undefined ? undefined : legalTexts[path];
  return (
    <Modal.Root opened={text !== undefined} onClose={onClose} size={640} transitionProps={{ duration: 120 }}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content>
        {/* Not Modal.Header: its <header> would be a second banner landmark. */}
        <div className={classes.modalHead}>
          <Modal.Title className={classes.modalTitle ?? ""}>{text?.title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </div>
        <Modal.Body className={classes.modalBody ?? ""}>{text && <LegalDocument text={text} />}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
