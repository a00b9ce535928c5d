import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link, useNavigate } from "react-router";
import { confirmReset } from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { readSession, signOut } from "../api/session.ts";
import { commonTexts } from "../content/common-texts.ts";
import { PasswordField } from "../ui/controls/password-field.tsx";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { resetFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { PasswordChecklist } from "./password-checklist.tsx";
import { resetToastMs } from "./use-reset-mail.ts";
import { isStrong, validateReset } from "./validate-login.ts";

/** Spec 9.2. */
const redirectMs = 5500;

/** `owner` is the email of the link's account, undefined until the check of the link has succeeded (G48). */
export function ResetForm({ code, owner }: { code: string; owner: string | undefined }) {
  const form = useForm({
    initialValues: { password: "", confirmation: "" },
    validate: validateReset,
    onValuesChange: () => form.clearErrors(),
  });
  const { mutate, isPending, isSuccess } = useReset(code, owner, (text) => form.setFieldError("form", text));
  useRedirect(isSuccess);
  if (isSuccess) return <Done />;
  const { password, confirmation } = form.values;
  const ready = owner !== undefined && confirmation !== "" && isStrong(password) && !isPending;
  const submit = form.onSubmit((fields) => {
    if (owner !== undefined && !isPending) mutate(fields.password);
  });
  return (
    <form className={classes.fields} noValidate onSubmit={submit} aria-label="Reset password">
      {/* Tells password managers the account. */}
      <input type="text" name="username" autoComplete="username" value={owner ?? ""} readOnly hidden />
      <PasswordField
        autoComplete="new-password"
        label="New password"
        {...(password !== "" && { "aria-describedby": "password-checklist" })}
        {...form.getInputProps("password")}
      />
      {password !== "" && <PasswordChecklist id="password-checklist" password={password} />}
      <PasswordField autoComplete="new-password" label="Confirm password" {...form.getInputProps("confirmation")} />
      <FormError text={form.errors["form"]} />
      <Button type="submit" size="md" fullWidth disabled={!ready}>
        {isPending ? "Resetting Password..." : "Reset Password"}
      </Button>
    </form>
  );
}

function Done() {
  return (
    <p className={classes.lead} role="status">
      {commonTexts.passwordChanged}{" "}
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

function useReset(code: string, owner: string | undefined, onError: (text: string) => void) {
  return useMutation({
    mutationFn: async (password: string) => confirmReset((await readConfig()).identity, code, password),
    onSuccess: () => {
      toast.success("Password updated successfully! Navigating to login.", {
        title: "Success",
        duration: resetToastMs.success,
      });
      // The reset has ended this account's sign-in; another account's stays.
      if (owner !== undefined && readSession()?.email.toLowerCase() === owner.toLowerCase()) signOut();
    },
    onError: (error) => {
      toast.error("Failed to reset password. Try again after a while", {
        title: "Error",
        duration: resetToastMs.error,
      });
      onError(resetFailure(error));
    },
  });
}
