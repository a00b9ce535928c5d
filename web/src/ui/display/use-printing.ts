import { useSyncExternalStore } from "react";

/** Whether the page is being printed. Changes before the print layout, so that a screen can render differently. */
export function usePrinting(): boolean {
  // A store, because React renders its changes synchronously, and a state's change perhaps after the print.
  return useSyncExternalStore(
    subscribe,
    () => matchMedia("print").matches,
    () => false,
  );
}

function subscribe(changed: () => void): () => void {
  const media = matchMedia("print");
  media.addEventListener("change", changed);
  return () => media.removeEventListener("change", changed);
}
