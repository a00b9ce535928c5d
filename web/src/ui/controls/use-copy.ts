import { useEffect, useState } from "react";
import { commonTexts } from "../../content/common-texts.ts";
import { toast } from "../toast/toast.ts";

/** How long the confirmation is shown (spec 2). */
const confirmMs = 1_800;

/** Copies a value to the clipboard; `copied` is true while the confirmation is shown. */
export function useCopy(value: string): { readonly copied: boolean; readonly copy: () => void } {
  const [copies, setCopies] = useState(0);
  useEffect(() => {
    if (copies === 0) return;
    const timer = setTimeout(() => setCopies(0), confirmMs);
    return () => clearTimeout(timer);
  }, [copies]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setCopies((before) => before + 1);
    } catch {
      // No permission, or no clipboard without TLS.
      toast.warning(commonTexts.copyFailed);
    }
  };
  return { copied: copies > 0, copy: () => void copy() };
}
