import classes from "./total.module.css";

interface Props {
  readonly label: string;
  readonly amount: string;
  readonly notes: readonly string[];
}

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
