import { toast } from "../ui/toast/toast.ts";

/** Opens the chat in a new tab; shows a toast if the browser blocks it (spec 8.9). */
export function openChat(url: string): void {
  const tab = window.open(url, "_blank");
  if (tab) tab.opener = null;
  else toast.error("Failed to create Telegram message. Please try again.");
}
