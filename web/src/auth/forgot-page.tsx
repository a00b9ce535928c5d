import { texts } from "@berth/contract";
import { Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { Link } from "react-router";
import { useBrand } from "../api/use-brand.ts";
import { toast } from "../ui/toast/toast.ts";
import { AuthFrame } from "./auth-frame.tsx";
import classes from "./auth-page.module.css";
import { BusyOverlay } from "./busy-overlay.tsx";
import { resetToastMs, useResetMail } from "./use-reset-mail.ts";
import { validateForgot } from "./validate-login.ts";

/** Requests a reset link (spec 2.5, 4.7 and 8.7). */
export function ForgotPage() {
  const brand = useBrand();
  useDocumentTitle(`Forgot password · ${brand.name}`);
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
      <ForgotForm />
      <p className={classes.ways}>
        <Link to="/login">Back to login</Link>
        <span>
          Remember your password? <Link to="/login">Sign in here</Link>
        </span>
      </p>
    </AuthFrame>
  );
}

function ForgotForm() {
  const form = useForm({ initialValues: { email: "" }, validate: validateForgot });
  const { mutate, isPending } = useResetMail((text) => form.setFieldError("email", text));
  const submit = form.onSubmit(
    (fields) => {
      if (!isPending) mutate(fields);
    },
    ({ email }) => {
      if (email === texts.emailEmpty) toast.error(texts.emailEmpty, { title: "Error", duration: resetToastMs.error });
    },
  );
  return (
    <>
      <form className={classes.fields} noValidate onSubmit={submit} aria-label="Forgot password">
        <TextInput
          label="Email"
          type="email"
          required
          withAsterisk={false}
          autoComplete="email"
          placeholder="you@university.edu"
          {...form.getInputProps("email")}
        />
        <Button type="submit" size="md" fullWidth disabled={isPending}>
          {isPending ? "Sending Reset Link..." : "Send Reset Link"}
        </Button>
      </form>
      {isPending && <BusyOverlay>Sending Reset Link...</BusyOverlay>}
    </>
  );
}
