import { useSyncExternalStore } from "react";

/** Whether the page is being put on paper. Told before the paper is laid out, so a screen may show itself otherwise. */
export function usePrinting(): boolean {
  // Not a state set in an effect: React draws a store's change at once, a state's perhaps only after the printing.
  return useSyncExternalStore(subscribe, () => matchMedia("print").matches);
}

function subscribe(changed: () => void): () => void {
  const media = matchMedia("print");
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}
