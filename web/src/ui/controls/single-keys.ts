import { readStorage, writeStorage } from "../../api/storage.ts";

const offKey = "single_keys";

/** Whether keys without Ctrl work. Who speaks to the computer, or shares a keyboard, turns them off (WCAG 2.1.4). */
export function hasSingleKeys(): boolean {
  return readStorage(offKey) !== "off";
}

export function setSingleKeys(on: boolean): void {
  writeStorage(offKey, on ? null : "off");
}

/** Whether a key without Ctrl may be a shortcut. */
export function isSingleKey({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  return !ctrlKey && !metaKey && !altKey && hasSingleKeys() && !isTyping(target);
}

/** In a field, or while a dialog or a menu is open. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector("[role=dialog][aria-modal=true], [role=menu]") !== null) return true;
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
