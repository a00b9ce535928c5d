import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import { usePasskeysOffered } from "../api/passkeys.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { loginFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { login, type WaitingLogin } from "./sign-in.ts";
import { validateLogin } from "./validate-login.ts";

interface Props {
  /** The password was right, and a code is needed. */
  readonly onWaiting: (waiting: WaitingLogin) => void;
}

export function LoginForm({ onWaiting }: Props) {
  const passkeys = usePasskeysOffered();
  const form = useForm({
    initialValues: { email: "", password: "" },
    validate: validateLogin,
    clearInputErrorOnChange: false,
  });
  const { mutate, isPending } = useMutation({
    mutationFn: login,
    onSuccess: (waiting) => waiting && onWaiting(waiting),
    onError: (error) => {
      // The toast has the text, so the field is only marked.
      form.setFieldError("password", true);
      toast.error(loginFailure(error), { title: "Login Failed" });
    },
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <form className={classes.fields} noValidate onSubmit={submit} aria-label="Login">
      <TextInput
        label="Email"
        type="email"
        autoComplete={passkeys ? "username webauthn" : "email"}
        placeholder="you@university.edu"
        {...form.getInputProps("email")}
      />
      <div className={classes.password}>
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps("password")} />
        <Link to="/forgot-password">Forgot Password?</Link>
      </div>
      <FormError text={form.errors["form"]} />
      <Button type="submit" size="md" fullWidth loading={isPending}>
        Login
      </Button>
    </form>
  );
}
