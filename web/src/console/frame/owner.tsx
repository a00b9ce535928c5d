import { Link } from "react-router";
import classes from "./owner.module.css";

interface Props {
  readonly id: string;
  /** Null: the account was deleted. */
  readonly email: string | null;
}

/** Whose it is, with the way to the account. */
export function Owner({ id, email }: Props) {
  if (email === null) return `${id}, deleted`;
  return (
    <Link className={`link ${classes.owner}`} to={`/people/${id}`}>
      {email}
    </Link>
  );
}
