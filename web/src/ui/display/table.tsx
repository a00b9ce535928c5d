import type { ComponentProps, ReactNode } from "react";
import classes from "./table.module.css";

interface Column {
  readonly label: ReactNode;
  /** Aligned right; the column's cells have `data-end` too. */
  readonly end?: boolean;
  readonly className?: string | undefined;
}

interface Props extends ComponentProps<"table"> {
  readonly columns: readonly (string | Column)[];
  /** For the public pages: larger type, and 64 px for a row. */
  readonly large?: boolean;
  /** The rows. */
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}

/** Rows with hairlines between them. `className` adds a screen's own rules, which win. */
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
