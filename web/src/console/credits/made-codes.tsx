import { Button, Textarea } from "@mantine/core";
import { saveText } from "../../api/save-file.ts";
import { useCopy } from "../../ui/controls/use-copy.ts";
import { Notice } from "../../ui/display/notice.tsx";
import classes from "./credits-page.module.css";

export interface NewCodes {
  /** Of their kind. */
  readonly id: string;
  readonly codes: readonly string[];
}

interface Props {
  readonly made: NewCodes;
  readonly onClose: () => void;
}

const mostRows = 8;

/** Codes that were just made; they are kept by this screen alone. */
export function MadeCodes({ made: { id, codes }, onClose }: Props) {
  const text = codes.join("\n");
  const { copied, copy } = useCopy(text);
  return (
    <section className={classes.made} aria-label="New codes">
      <Notice tone="hold" title="These codes are shown only now">
        Copy or save them before you leave this screen. Nobody can show them again, only revoke them.
      </Notice>
      <Textarea
        label="Codes, one on a line"
        classNames={{ input: "mono" }}
        readOnly
        rows={Math.min(mostRows, codes.length)}
        value={text}
      />
      <div className={classes.buttons}>
        <Button variant="default" onClick={copy}>
          {copied ? "Copied" : "Copy all"}
        </Button>
        <Button variant="default" onClick={() => saveText(`vouchers-${id.slice(0, 8)}.txt`, `${text}\n`, "text/plain")}>
          Save as a file
        </Button>
        <Button variant="subtle" onClick={onClose}>
          I have them
        </Button>
      </div>
    </section>
  );
}
