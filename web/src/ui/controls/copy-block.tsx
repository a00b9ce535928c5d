import { Button } from "@mantine/core";
import { commonTexts } from "../../content/common-texts.ts";
import classes from "./copy-block.module.css";
import { useCopy } from "./use-copy.ts";

interface Props {
  /** What it is for, or the file that it belongs into. */
  readonly label: string;
  readonly text: string;
}

/** Lines for a terminal or a file, copied with one click. */
export function CopyBlock({ label, text }: Props) {
  const { copied, copy } = useCopy(text);
  return (
    <figure className={classes.block}>
      <figcaption>{label}</figcaption>
      <pre>{text}</pre>
      <Button size="xs" variant="default" onClick={copy} aria-label={`Copy: ${label}`}>
        <span aria-live="polite">{copied ? commonTexts.copied : "Copy"}</span>
      </Button>
    </figure>
  );
}
