import classes from "./recovery-codes.module.css";

interface Props {
  readonly codes: readonly string[];
  /** What has just happened. */
  readonly lead?: string | undefined;
}

/** Recovery codes of a second factor, which are shown this once. */
export function RecoveryCodes({ codes, lead }: Props) {
  return (
    <>
      <p className={classes.text}>
        {lead} Keep these recovery codes where your phone is not. Each one works once instead of the app, and they are
        shown only now.
      </p>
      <ul className={classes.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
    </>
  );
}
