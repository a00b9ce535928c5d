import { legalTexts } from "../content/legal-texts.ts";
import { LegalDocument } from "../legal/legal-document.tsx";
import { Dialog } from "../ui/dialogs/dialog.tsx";

/** `path` is the document's route; undefined while closed. */
export function LegalModal({ path, onClose }: { readonly path: string | undefined; readonly onClose: () => void }) {
  const text = path === undefined ? undefined : legalTexts[path];
  return (
    <Dialog opened={text !== undefined} title={text?.title ?? ""} size={640} reading onClose={onClose}>
      {text && <LegalDocument text={text} />}
    </Dialog>
  );
}
