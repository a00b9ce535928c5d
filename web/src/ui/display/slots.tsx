import type { ReactNode } from "react";
import { mostGpus } from "../../catalogue.ts";
import classes from "./slots.module.css";

interface Props {
  filled: number;
  of?: number;
  tone?: "ink" | "live" | "rest";
  size?: "sm" | "lg";
}

/** `filled` of the GPUs that an environment can have; decorative, because the number is written beside it. */
export function Slots({ filled, of = Math.max(filled, mostGpus()), tone = "ink", size = "sm" }: Props) {
  return (
    <span className={classes.slots} data-tone={tone} data-size={size} aria-hidden="true">
      {Array.from({ length: of }, (_, place) => place).map((place) => (
        <i key={place} data-filled={place < filled || undefined} />
      ))}
    </span>
  );
}

export function NamedSlots({ children, ...slots }: Props & { children: ReactNode }) {
  return (
    <span className={classes.named}>
      <Slots {...slots} />
      {children}
    </span>
  );
}
