import { settingsPassword, texts } from "@berth/contract";
import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { ApiError } from "../api/api-error.ts";
import { call, messageOf } from "../api/call.ts";
import { signInAgain } from "../api/current-token.ts";
import { PasswordField } from "../ui/controls/password-field.tsx";
import { toast } from "../ui/toast/toast.ts";
import classes from "./settings-page.module.css";
import { passwordFailed, settingsUpdated } from "./settings-texts.ts";
import { type PasswordErrors, type PasswordFields, passwordAdvice, validatePassword } from "./validate-password.ts";

export function PasswordForm({ userId }: { readonly userId: string }) {
  const form = useForm({
    initialValues: { current: "", next: "", confirmation: "" },
    validate: validatePassword,
    onValuesChange: () => form.clearErrors(),
  });
  const { mutate, isPending } = useMutation({
    mutationFn: async ({ current, next }: PasswordFields) => {
      await call(settingsPassword, {
        params: { user_id: userId },
        body: { currentPassword: current, newPassword: next },
      });
      // The password is changed: a sign-in that fails now ends by itself within the hour.
      await signInAgain(next).catch(() => undefined);
    },
    onSuccess: () => {
      form.reset();
      toast.success(settingsUpdated);
    },
    onError: (error) => {
      toast.error(passwordFailed);
      form.setErrors(refusalOf(error));
    },
  });
  const submit = form.onSubmit(
    (fields) => {
      if (!isPending) mutate(fields);
    },
    // This one is also a toast (spec 5).
    ({ confirmation }) => confirmation && toast.error(texts.newPasswordsDiffer, { title: "Denied." }),
  );
  return (
    <form className={classes.form} noValidate onSubmit={submit} aria-label="Password">
      <h2>Password</h2>
      <PasswordField label="Current password" autoComplete="current-password" {...form.getInputProps("current")} />
      <PasswordField
        label="New password"
        description={passwordAdvice(form.values.next)}
        autoComplete="new-password"
        {...form.getInputProps("next")}
      />
      <PasswordField label="Confirm new password" autoComplete="new-password" {...form.getInputProps("confirmation")} />
      <p role="alert" className={classes.error} data-empty={form.errors["form"] === undefined || undefined}>
        {form.errors["form"]}
      </p>
      <div className={classes.save}>
        <Button type="submit" loading={isPending}>
          Update Password
        </Button>
      </div>
    </form>
  );
}

/** The toast has the specified text (G65); the field has the reason. */
function refusalOf(error: unknown): PasswordErrors {
  if (!(error instanceof ApiError)) return {};
  if (error.code === "wrong_password") return { current: "This is not your current password" };
  return error.code === "rate_limited" ? { form: messageOf(error) } : {};
}
