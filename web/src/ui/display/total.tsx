import classes from "./total.module.css";

interface Props {
  /** What stands before the sum. */
  readonly label: string;
  readonly amount: string;
  readonly notes: readonly string[];
}

/** The last line of an order: its sum, and under it what else there is to know of the money. */
export function Total({ label, amount, notes }: Props) {
  return (
    <p className={classes.total}>
      <span>{label}</span>
      <strong>{amount}</strong>
      {notes.map((note) => (
        <small key={note}>{note}</small>
      ))}
    </p>
  );
}
