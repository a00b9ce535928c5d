import { Check, Copy } from "lucide-react";
import { commonTexts } from "../../content/common-texts.ts";
import classes from "./copy-text.module.css";
import { useCopy } from "./use-copy.ts";

interface Props {
  readonly value: string;
  /** A label for screen readers: "card number". */
  readonly label: string;
  readonly shown?: string;
}

/** A monospaced value that is copied with one click. */
export function CopyText({ value, label, shown = value }: Props) {
  const { copied, copy } = useCopy(value);
  return (
    <button type="button" className={classes.copy} onClick={copy} aria-label={`${shown}, copy ${label}`}>
      <span className="mono">{shown}</span>
      {copied ? <Check size={13} className={classes.done} /> : <Copy size={13} strokeWidth={1.5} />}
      <span aria-live="polite" className={classes.hidden}>
        {copied ? commonTexts.copied : ""}
      </span>
    </button>
  );
}
