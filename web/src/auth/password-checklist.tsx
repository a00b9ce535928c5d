import { passwordChecks } from "@berth/contract";
import { VisuallyHidden } from "@mantine/core";
import { Check, Minus } from "lucide-react";
import classes from "./password-checklist.module.css";

/** The rules for a new password, checked while it is typed (spec 2.6 and 5.3). */
export function PasswordChecklist({ id, password }: { id: string; password: string }) {
  return (
    <ul id={id} className={classes.list} aria-label="Password requirements">
      {passwordChecks.map(({ label, met }) => {
        const done = met(password);
        const Icon = done ? Check : Minus;
        return (
          <li key={label} data-met={done}>
            <Icon size={14} strokeWidth={2} aria-hidden="true" />
            {label}
            <VisuallyHidden>{done ? " (met)" : " (not met)"}</VisuallyHidden>
          </li>
        );
      })}
    </ul>
  );
}
