import { maxNameLength } from "@berth/contract";
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type ChangeEvent, type FormEvent, useState } from "react";
import { notices } from "../content/notices.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { signUpFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { type Problem, signUpProblem } from "./form-problem.ts";
import { signUp } from "./sign-in.ts";

/** Spec 8.1. */
const loadingMs = 15_000;

export function SignUpForm() {
  const [fields, setFields] = useState({ name: "", email: "", password: "", confirmation: "" });
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const input = (name: keyof typeof fields) => ({
    value: fields[name],
    error: problem?.field === name && problem.text,
    onChange: (event: ChangeEvent<HTMLInputElement>) => setFields({ ...fields, [name]: event.currentTarget.value }),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = signUpProblem(fields);
    setProblem(found);
    if (found || busy) return;
    setBusy(true);
    await send(fields);
    setBusy(false);
  };
  return (
    <form className={classes.fields} noValidate onSubmit={(event) => void submit(event)} aria-label="Sign up">
      <TextInput
        label="Name (optional)"
        autoComplete="name"
        placeholder="Ada Park"
        maxLength={maxNameLength}
        {...input("name")}
      />
      <TextInput label="Email" type="email" autoComplete="email" placeholder="you@university.edu" {...input("email")} />
      <PasswordInput
        label="Password"
        description="At least 6 characters"
        autoComplete="new-password"
        {...input("password")}
      />
      <PasswordInput label="Confirm password" autoComplete="new-password" {...input("confirmation")} />
      <FormError text={problem?.field === "form" ? problem.text : undefined} />
      <Button type="submit" size="md" fullWidth loading={busy}>
        Sign Up
      </Button>
      <p className={classes.card}>No credit card needed to sign up.</p>
    </form>
  );
}

/** On success the stored session takes the screen away. */
async function send(fields: { name: string; email: string; password: string }): Promise<void> {
  const waiting = toast.loading(notices.creatingAccount, { title: notices.creatingAccountTitle, duration: loadingMs });
  try {
    await signUp({ email: fields.email.trim(), password: fields.password, name: fields.name.trim() });
  } catch (error) {
    toast.error(signUpFailure(error), { title: "Signup Failed" });
  } finally {
    toast.close(waiting);
  }
}
