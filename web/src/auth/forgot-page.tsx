import { Button, TextInput } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { useBrand } from "../api/use-brand.ts";
import { askForReset, forgotProblem } from "./ask-for-reset.ts";
import { AuthFrame } from "./auth-frame.tsx";
import classes from "./auth-page.module.css";
import { BusyOverlay } from "./busy-overlay.tsx";

/** Asks for a reset link (spec 2.5, 4.7 and 8.7). */
export function ForgotPage() {
  const brand = useBrand();
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  useDocumentTitle(`Forgot password · ${brand.name}`);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const found = forgotProblem(email);
    setProblem(found);
    if (found !== undefined) return;
    setBusy(true);
    setProblem(await askForReset(email));
    setBusy(false);
  };
  return (
    <AuthFrame
      title="Forgot your password?"
      foot={
        <>
          If no email arrives within 5 minutes, check your spam folder or{" "}
          <a href={`mailto:${brand.email}`}>contact support</a>.
        </>
      }
    >
      <p className={classes.lead}>Enter the email of your account. We send a link to set a new password.</p>
      <form className={classes.fields} noValidate onSubmit={(event) => void submit(event)} aria-label="Forgot password">
        <TextInput
          label="Email"
          type="email"
          required
          withAsterisk={false}
          autoComplete="email"
          placeholder="you@university.edu"
          value={email}
          error={problem}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        <Button type="submit" size="md" fullWidth disabled={busy}>
          {busy ? "Sending Reset Link..." : "Send Reset Link"}
        </Button>
      </form>
      <p className={classes.ways}>
        <Link to="/login">Back to login</Link>
        <span>
          Remember your password? <Link to="/login">Sign in here</Link>
        </span>
      </p>
      {busy && <BusyOverlay>Sending Reset Link...</BusyOverlay>}
    </AuthFrame>
  );
}
