import { Button } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { Link, useNavigate } from "react-router";
import { confirmReset } from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { readSession, signOut } from "../api/session.ts";
import { notices } from "../content/notices.ts";
import { PasswordField } from "../ui/controls/password-field.tsx";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { resetFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { isStrong, resetProblem } from "./form-problem.ts";
import { PasswordChecklist } from "./password-checklist.tsx";
import { resetToastMs } from "./reset-toast-ms.ts";

/** Spec 9.2. */
const redirectMs = 5500;

/** `owner` is whose link it is, undefined until the check has said that it holds (G48). */
export function ResetForm({ code, owner }: { code: string; owner: string | undefined }) {
  const [fields, setFields] = useState({ password: "", confirmation: "" });
  const [problem, setProblem] = useState<string>();
  const [state, setState] = useState<"open" | "busy" | "done">("open");
  useRedirect(state === "done");
  const change = (changed: Partial<typeof fields>) => {
    setFields({ ...fields, ...changed });
    setProblem(undefined);
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (state !== "open") return;
    const found = resetProblem(fields);
    setProblem(found);
    if (found !== undefined || owner === undefined) return;
    setState("busy");
    const failure = await send(code, fields.password, owner);
    setProblem(failure);
    setState(failure === undefined ? "done" : "open");
  };
  if (state === "done") return <Done />;
  const ready = owner !== undefined && fields.confirmation !== "" && isStrong(fields.password) && state === "open";
  return (
    <form className={classes.fields} noValidate onSubmit={(event) => void submit(event)} aria-label="Reset password">
      {/* For password managers: which account the new password belongs to. */}
      <input type="text" name="username" autoComplete="username" value={owner ?? ""} readOnly hidden />
      <PasswordField
        autoComplete="new-password"
        label="New password"
        value={fields.password}
        {...(fields.password !== "" && { "aria-describedby": "password-checklist" })}
        onValue={(password) => change({ password })}
      />
      {fields.password !== "" && <PasswordChecklist id="password-checklist" password={fields.password} />}
      <PasswordField
        autoComplete="new-password"
        label="Confirm password"
        value={fields.confirmation}
        onValue={(confirmation) => change({ confirmation })}
      />
      <FormError text={problem} />
      <Button type="submit" size="md" fullWidth disabled={!ready}>
        {state === "busy" ? "Resetting Password..." : "Reset Password"}
      </Button>
    </form>
  );
}

function Done() {
  return (
    <p className={classes.lead} role="status">
      {notices.passwordChanged}{" "}
      <Link className="link" to="/login">
        Go to login
      </Link>
    </p>
  );
}

function useRedirect(done: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => void navigate("/login"), redirectMs);
    return () => clearTimeout(timer);
  }, [done, navigate]);
}

/** Answers what the form has to say, or undefined when the password is set. */
async function send(code: string, password: string, owner: string): Promise<string | undefined> {
  try {
    await confirmReset((await readConfig()).identity, code, password);
  } catch (error) {
    toast.error("Failed to reset password. Try again after a while", { title: "Error", duration: resetToastMs.error });
    return resetFailure(error);
  }
  toast.success("Password updated successfully! Navigating to login.", {
    title: "Success",
    duration: resetToastMs.success,
  });
  // The new password has ended this account's sign-in here too; somebody else's is left alone.
  if (readSession()?.email.toLowerCase() === owner.toLowerCase()) signOut();
  return undefined;
}
