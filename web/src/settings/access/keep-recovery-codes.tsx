import { Button } from "@mantine/core";
import { pageSettings } from "../../api/page-settings.ts";
import { saveText } from "../../api/save-file.ts";
import { useCopy } from "../../ui/controls/use-copy.ts";
import { RecoveryCodes } from "../../ui/display/recovery-codes.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly codes: readonly string[];
  /** What has just happened. */
  readonly lead?: string;
  readonly onDone: () => void;
}

/** The recovery codes, with ways to keep them (G399). */
export function KeepRecoveryCodes({ codes, lead, onDone }: Props) {
  const { copied, copy } = useCopy(codes.join("\n"));
  const save = () =>
    saveText("recovery-codes.txt", `Recovery codes of ${pageSettings.name}\n\n${codes.join("\n")}\n`, "text/plain");
  return (
    <div>
      <RecoveryCodes codes={codes} lead={lead} />
      <div className={classes.end}>
        <Button variant="default" onClick={copy}>
          <span aria-live="polite">{copied ? "Copied" : "Copy"}</span>
        </Button>
        <Button variant="default" onClick={save}>
          Download
        </Button>
        <Button onClick={onDone}>I have kept them</Button>
      </div>
    </div>
  );
}
