import { useSyncExternalStore } from "react";

/** Whether the page is being printed. Changes before the layout for paper, so that a screen can draw itself differently. */
export function usePrinting(): boolean {
  // Not a state set in an effect: React draws a store's change at once, and a state's change perhaps after the printing.
  return useSyncExternalStore(subscribe, () => matchMedia("print").matches);
}

function subscribe(changed: () => void): () => void {
  const media = matchMedia("print");
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}
