import { useClipboard } from "@mantine/hooks";
import { useEffect } from "react";
import { commonTexts } from "../../content/common-texts.ts";
import { toast } from "../toast/toast.ts";

/** Copies a value to the clipboard; `copied` is true while the confirmation is shown (spec 2.7). */
export function useCopy(value: string): { readonly copied: boolean; readonly copy: () => void } {
  const { copied, copy, error } = useClipboard({ timeout: 1_800 });
  useEffect(() => {
    // No permission, or no clipboard without TLS.
    if (error) toast.warning(commonTexts.copyFailed);
  }, [error]);
  return { copied, copy: () => copy(value) };
}
