import type { ReactNode } from "react";
import classes from "./notice.module.css";
import type { Tone } from "./status.tsx";

type Props = { tone?: Tone; title: string; children?: ReactNode; action?: ReactNode; alert?: boolean };

export function Notice({ tone = "rest", title, children, action, alert }: Props) {
  return (
    <div className={classes.notice} data-tone={tone} role={alert ? "alert" : undefined}>
      <div>
        <strong>{title}</strong>
        {children && <div className={classes.text}>{children}</div>}
      </div>
      {action}
    </div>
  );
}
