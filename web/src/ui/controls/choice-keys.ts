import type { KeyboardEvent } from "react";

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** A group of choices is one stop of Tab: the chosen one, else the first that can be chosen (G341). */
export function tabStopOf<Value>(possible: readonly Value[], chosen: Value): Value | undefined {
  return possible.includes(chosen) ? chosen : possible[0];
}

/** Inside it the arrow keys choose, as in native radios, and pass over what cannot be chosen. */
export function moveChoice(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key];
  const radios = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]:not(:disabled)")];
  const at = radios.indexOf(event.target as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = radios[(at + step + radios.length) % radios.length];
  next?.focus();
  next?.click();
}
