import type { ReactNode } from "react";
import classes from "./auth-page.module.css";

/** An error of the whole form; always in the document, so that a screen reader announces it. */
export function FormError({ text }: { text: ReactNode }) {
  return (
    <p role="alert" className={classes.error} data-empty={text === undefined || undefined}>
      {text}
    </p>
  );
}
