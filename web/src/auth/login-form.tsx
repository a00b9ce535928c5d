import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Link } from "react-router";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { loginFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { loginProblem, type Problem } from "./form-problem.ts";
import { login } from "./sign-in.ts";

export function LoginForm() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = loginProblem({ email, password });
    setProblem(found);
    if (found || busy) return;
    setBusy(true);
    try {
      await login(email.trim(), password);
    } catch (error) {
      // The field is marked, the toast says why: the same words are not shown twice.
      setProblem({ field: "password", text: "" });
      toast.error(loginFailure(error), { title: "Login Failed" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className={classes.fields} noValidate onSubmit={(event) => void submit(event)} aria-label="Login">
      <TextInput
        label="Email"
        type="email"
        autoComplete="email"
        placeholder="you@university.edu"
        value={email}
        error={problem?.field === "email" && problem.text}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <div className={classes.password}>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          value={password}
          error={problem?.field === "password"}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Link to="/forgot-password">Forgot Password?</Link>
      </div>
      <FormError text={problem?.field === "form" ? problem.text : undefined} />
      <Button type="submit" size="md" fullWidth loading={busy}>
        Login
      </Button>
    </form>
  );
}
