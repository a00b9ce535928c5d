import type { ReactNode } from "react";
import classes from "./stats.module.css";

export type Stat = { label: string; value: string; unit?: string; note?: ReactNode | undefined };

export function Stats({ stats }: { stats: Stat[] }) {
  return (
    <dl className={`panel ${classes.stats}`}>
      {stats.map(({ label, value, unit, note }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <span className={classes.value}>{value}</span>
            {unit && <span className={classes.unit}>{unit}</span>}
            {note && <span className={classes.note}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
