import classes from "./total.module.css";

interface Props {
  /** The label of the sum. */
  readonly label: string;
  readonly amount: string;
  readonly notes: readonly string[];
}

/** The last line of an order: its sum, with notes below it. */
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
