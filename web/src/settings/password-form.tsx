import { settingsPassword } from "@berth/contract";
import { Button } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError, call, said } from "../api/call.ts";
import { PasswordField } from "../ui/controls/password-field.tsx";
import { toast } from "../ui/toast/toast.ts";
import { passwordFailed, settingsUpdated } from "./outcome-texts.ts";
import { type PasswordFields, type Problem, passwordAdvice, passwordProblem } from "./password-problem.ts";
import classes from "./settings-page.module.css";

const blank: PasswordFields = { current: "", next: "", confirmation: "" };

export function PasswordForm({ userId }: { readonly userId: string }) {
  const [fields, setFields] = useState(blank);
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const found = passwordProblem(fields);
    setProblem(found);
    // Spec 5.5: this one is also a toast.
    if (found?.field === "confirmation") toast.error(found.text, { title: "Denied." });
    if (found) return;
    setBusy(true);
    try {
      const body = { currentPassword: fields.current, newPassword: fields.next };
      await call(settingsPassword, { params: { user_id: userId }, body });
      setFields(blank);
      toast.success(settingsUpdated);
    } catch (error) {
      toast.error(passwordFailed);
      setProblem(refusalOf(error));
    } finally {
      setBusy(false);
    }
  };
  const input = (name: keyof PasswordFields) => ({
    value: fields[name],
    error: problem?.field === name && problem.text,
    onValue: (value: string) => {
      setFields({ ...fields, [name]: value });
      setProblem(undefined);
    },
  });
  return (
    <form className={classes.form} noValidate onSubmit={(event) => void submit(event)} aria-label="Password">
      <h2>Password</h2>
      <PasswordField label="Current password" autoComplete="current-password" {...input("current")} />
      <PasswordField
        label="New password"
        description={passwordAdvice(fields.next)}
        autoComplete="new-password"
        {...input("next")}
      />
      <PasswordField label="Confirm new password" autoComplete="new-password" {...input("confirmation")} />
      <p role="alert" className={classes.error} data-empty={problem?.field !== "form" || undefined}>
        {problem?.field === "form" && problem.text}
      </p>
      <div className={classes.save}>
        <Button type="submit" loading={busy}>
          Update Password
        </Button>
      </div>
    </form>
  );
}

/** The toast has the specification's words (G65); the field says which of the two it was. */
function refusalOf(error: unknown): Problem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === "wrong_password") return { field: "current", text: "This is not your current password" };
  if (error.code === "rate_limited") return { field: "form", text: said(error) };
  return undefined;
}
