import { maxNameLength } from "@berth/contract";
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { signUpFailure } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { signUp } from "./sign-in.ts";
import { validateSignUp } from "./validate-login.ts";

/** Spec 8.1. */
const loadingMs = 15_000;

export function SignUpForm() {
  const form = useForm({
    initialValues: { name: "", email: "", password: "", confirmation: "" },
    validate: validateSignUp,
    clearInputErrorOnChange: false,
  });
  // On success the stored session replaces this screen.
  const { mutate, isPending } = useMutation({
    mutationFn: signUp,
    onMutate: () =>
      toast.loading(commonTexts.creatingAccount, { title: commonTexts.creatingAccountTitle, duration: loadingMs }),
    onError: (error) => toast.error(signUpFailure(error), { title: "Signup Failed" }),
    onSettled: (_account, _error, _fields, waiting) => waiting && toast.close(waiting),
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <form className={classes.fields} noValidate onSubmit={submit} aria-label="Sign up">
      <TextInput
        label="Name (optional)"
        autoComplete="name"
        placeholder="Ada Park"
        maxLength={maxNameLength}
        {...form.getInputProps("name")}
      />
      <TextInput
        label="Email"
        type="email"
        autoComplete="email"
        placeholder="you@university.edu"
        {...form.getInputProps("email")}
      />
      <PasswordInput
        label="Password"
        description="At least 6 characters"
        autoComplete="new-password"
        {...form.getInputProps("password")}
      />
      <PasswordInput label="Confirm password" autoComplete="new-password" {...form.getInputProps("confirmation")} />
      <FormError text={form.errors["form"]} />
      <Button type="submit" size="md" fullWidth loading={isPending}>
        Sign Up
      </Button>
      <p className={classes.card}>No credit card needed to sign up.</p>
    </form>
  );
}
