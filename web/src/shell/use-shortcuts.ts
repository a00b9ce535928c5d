import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { readStorage, writeStorage } from "../api/storage.ts";

/** What a shortcut opened over the screen. */
export type Overlay = "palette" | "keys";

const offKey = "single_keys";

/** Whether keys without Ctrl work. Who speaks to the computer, or shares a keyboard, turns them off (WCAG 2.1.4). */
export function hasSingleKeys(): boolean {
  return readStorage(offKey) !== "off";
}

export function setSingleKeys(on: boolean): void {
  writeStorage(offKey, on ? null : "off");
}

/** After G: the first letter of a screen. */
const goKeys: Readonly<Record<string, string>> = {
  d: "/dashboard",
  e: "/environments",
  b: "/billing",
  s: "/support",
  t: "/settings",
};

/** Ctrl K or Cmd K opens the commands; ?, /, C and G with a letter work where nothing is typed. */
export function useShortcuts(): readonly [Overlay | undefined, (overlay: Overlay | undefined) => void] {
  const [overlay, setOverlay] = useState<Overlay>();
  const navigate = useNavigate();
  const goes = useRef(false);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const key = event.key.toLowerCase();
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    const afterG = goes.current;
    goes.current = false;
    if (isPaletteKey(event)) setOverlay(overlay === "palette" ? undefined : "palette");
    else if (hasModifier || event.defaultPrevented || isTyping(event.target) || !hasSingleKeys()) return;
    else if (key === "g") goes.current = true;
    else if (!pressed(key, afterG)) return;
    event.preventDefault();
  });
  /** Whether the key is a shortcut. */
  const pressed = (key: string, afterG: boolean): boolean => {
    const path = afterG ? goKeys[key] : key === "c" ? "/environments/create" : undefined;
    if (path !== undefined) void navigate(path);
    else if (key === "?") setOverlay("keys");
    else return key === "/" && focusSearch();
    return true;
  };
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return [overlay, setOverlay];
}

function isPaletteKey({ ctrlKey, metaKey, altKey, shiftKey, key }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && key.toLowerCase() === "k";
}

/** In a field, or while a dialog or a menu is open. */
function isTyping(target: EventTarget | null): boolean {
  if (document.querySelector("[role=dialog][aria-modal=true], [role=menu]") !== null) return true;
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLElement>('main input[aria-label^="Search"]');
  box?.focus();
  return box !== null;
}
