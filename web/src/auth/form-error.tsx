import classes from "./auth-page.module.css";

/** What concerns the whole form; always in the document, so that a screen reader hears it come. */
export function FormError({ text }: { text: string | undefined }) {
  return (
    <p role="alert" className={classes.error} data-empty={text === undefined || undefined}>
      {text}
    </p>
  );
}
