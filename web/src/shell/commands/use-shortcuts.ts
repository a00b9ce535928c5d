import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { isSingleKey } from "../../ui/controls/single-keys.ts";

/** What a shortcut opened over the screen. */
export type Overlay = "palette" | "keys";

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
    const afterG = goes.current;
    goes.current = false;
    if (isLaunching()) return;
    if (isPaletteKey(event)) setOverlay(overlay === "palette" ? undefined : "palette");
    else if (event.defaultPrevented || !isSingleKey(event)) return;
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

/** Nothing but its own links leads away from a launch (G302). */
function isLaunching(): boolean {
  return document.querySelector("[data-overlay]") !== null;
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLElement>('main input[aria-label^="Search"]');
  box?.focus();
  return box !== null;
}
