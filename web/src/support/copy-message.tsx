import { Button } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast.ts";

const confirmMs = 1_800;

/** Always there, because a bot or a channel opens without the message (G61). */
export function CopyMessage({ message, label }: { readonly message: string; readonly label: string }) {
  const [copies, setCopies] = useState(0);
  useEffect(() => {
    if (copies === 0) return;
    const timer = setTimeout(() => setCopies(0), confirmMs);
    return () => clearTimeout(timer);
  }, [copies]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(message);
      setCopies((before) => before + 1);
    } catch {
      toast.warning(notices.copyFailed);
    }
  };
  const Icon = copies > 0 ? Check : Copy;
  return (
    <Button variant="subtle" leftSection={<Icon size={13} aria-hidden="true" />} onClick={() => void copy()}>
      <span aria-live="polite">{copies > 0 ? notices.copied : label}</span>
    </Button>
  );
}
