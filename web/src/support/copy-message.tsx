import { Button } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { commonTexts } from "../content/common-texts.ts";
import { useCopy } from "../ui/controls/use-copy.ts";

/** Always shown, because a bot or a channel cannot be opened with a prepared message (G61). */
export function CopyMessage({ message, label }: { readonly message: string; readonly label: string }) {
  const { copied, copy } = useCopy(message);
  const Icon = copied ? Check : Copy;
  return (
    <Button variant="subtle" leftSection={<Icon size={13} aria-hidden="true" />} onClick={copy}>
      <span aria-live="polite">{copied ? commonTexts.copied : label}</span>
    </Button>
  );
}
