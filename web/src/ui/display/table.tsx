import type { ComponentProps, ReactNode } from "react";
import classes from "./table.module.css";

interface Column {
  readonly label: ReactNode;
  /** Right-aligned; the column's cells need `data-end` too. */
  readonly end?: boolean;
  readonly className?: string | undefined;
}

interface Props extends ComponentProps<"table"> {
  readonly columns: readonly (string | Column)[];
  /** For public pages: larger type, and rows of 64 px. */
  readonly large?: boolean;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}

/** A table with hairlines. Rules of `className` win. */
export function Table({ columns, large, children, foot, className = "", ...rest }: Props) {
  return (
    <table className={`${classes.table} ${className}`} data-large={large || undefined} {...rest}>
      <thead>
        <tr>
          {columns.map((column, index) => {
            const { label, end, className: own }: Column = typeof column === "string" ? { label: column } : column;
            return (
              <th key={index} scope="col" className={own} data-end={end || undefined}>
                {label}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
      {foot}
    </table>
  );
}
