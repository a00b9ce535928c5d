import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./access-list.module.css";

/** What gives access to the account, a row each. */
export function AccessList({ children }: { readonly children: ReactNode }) {
  return <ul className={classes.list}>{children}</ul>;
}

interface Props {
  readonly name: string;
  /** Lines below the name. */
  readonly facts: readonly ReactNode[];
  /** What takes the access away; undefined where nothing here does. */
  readonly end: { readonly label: string; readonly busy?: boolean; readonly onClick: () => void } | undefined;
}

export function AccessRow({ name, facts, end }: Props) {
  return (
    <li>
      <strong>{name}</strong>
      {facts.map((fact, at) => (
        <span key={at}>{fact}</span>
      ))}
      {end && (
        <Button variant="subtle" loading={end.busy ?? false} aria-label={`${end.label} ${name}`} onClick={end.onClick}>
          {end.label}
        </Button>
      )}
    </li>
  );
}
