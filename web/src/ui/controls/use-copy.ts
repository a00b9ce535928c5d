import { useEffect, useState } from "react";
import { notices } from "../../content/notices.ts";
import { toast } from "../toast/toast.ts";

/** Spec 2: how long a copy is confirmed. */
const confirmMs = 1_800;

/** Puts a value on the clipboard; `copied` is true while the copy is confirmed. */
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
      // The browser refuses, or the page has no TLS and therefore no clipboard.
      toast.warning(notices.copyFailed);
    }
  };
  return { copied: copies > 0, copy: () => void copy() };
}
