import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { notices } from "../content/notices.ts";
import classes from "./copy-text.module.css";
import { toast } from "./toast.ts";

/** Spec section 2: how long a copy is confirmed. */
const confirmMs = 1_800;

interface Props {
  readonly value: string;
  /** What it is, for screen readers: "card number". */
  readonly label: string;
  readonly shown?: string;
}

/** A value that is meant to be taken elsewhere: mono, whole, one press. */
export function CopyText({ value, label, shown = value }: Props) {
  const [copies, setCopies] = useState(0);
  useEffect(() => {
    if (copies === 0) return;
    const timer = setTimeout(() => setCopies(0), confirmMs);
    return () => clearTimeout(timer);
  }, [copies]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setCopies(copies + 1);
    } catch {
      // Refused, or a page without TLS has no clipboard at all.
      toast.warning(notices.copyFailed);
    }
  };
  return (
    <button type="button" className={classes.copy} onClick={() => void copy()} aria-label={`${shown}, copy ${label}`}>
      <span className="mono">{shown}</span>
      {copies > 0 ? <Check size={13} className={classes.done} /> : <Copy size={13} strokeWidth={1.5} />}
      <span aria-live="polite" className={classes.hidden}>
        {copies > 0 ? notices.copied : ""}
      </span>
    </button>
  );
}
