import { Button } from "@mantine/core";
import { pageSettings } from "../api/page-settings.ts";
import { useCopy } from "../ui/controls/use-copy.ts";
import { saveText } from "./save-text.ts";
import classes from "./second-factor.module.css";

interface Props {
  readonly codes: readonly string[];
  /** What has just happened. */
  readonly lead?: string;
  readonly onDone: () => void;
}

/** The recovery codes, which are shown this once (G399). */
export function RecoveryCodes({ codes, lead, onDone }: Props) {
  const { copied, copy } = useCopy(codes.join("\n"));
  const save = () => saveText(`Recovery codes of ${pageSettings.name}\n\n${codes.join("\n")}\n`, "recovery-codes.txt");
  return (
    <div>
      <p className={classes.text}>
        {lead} Keep these recovery codes where your phone is not. Each one works once instead of the app, and they are
        shown only now.
      </p>
      <ul className={classes.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
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
