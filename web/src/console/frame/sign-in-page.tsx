import { operatorSignIn } from "@berth/contract/console/session";
import { Button, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/call.ts";
import { pageSettings } from "../../api/page-settings.ts";
import { PasswordField } from "../../ui/controls/password-field.tsx";
import { callConsole } from "./call-console.ts";
import { sessionQuery } from "./console-client.ts";
import classes from "./door.module.css";
import { Door } from "./door.tsx";

/** Address and password, then the code where the account has a second factor. */
export function SignInPage() {
  useDocumentTitle(`Sign in · ${pageSettings.name} operator`);
  const [needsCode, setNeedsCode] = useState(false);
  const client = useQueryClient();
  const form = useForm({ initialValues: { email: "", password: "", code: "" } });
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: typeof form.values) => callConsole(operatorSignIn, { params: {}, body }),
    onSuccess: async ({ signed_in }) => {
      if (signed_in) await client.refetchQueries({ queryKey: sessionQuery.queryKey });
      else setNeedsCode(true);
    },
  });
  const submit = form.onSubmit((fields) => {
    if (!isPending) mutate(fields);
  });
  return (
    <Door title="Sign in to the console">
      <form className={classes.fields} noValidate onSubmit={submit} aria-label="Sign in">
        <TextInput label="Email" type="email" autoComplete="username" {...form.getInputProps("email")} />
        <PasswordField label="Password" autoComplete="current-password" {...form.getInputProps("password")} />
        {needsCode && (
          <TextInput
            label="Code"
            description="Six digits of your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            autoFocus
            {...form.getInputProps("code")}
          />
        )}
        <p role="alert" className={classes.error}>
          {error && messageOf(error)}
        </p>
        <Button type="submit" size="md" fullWidth loading={isPending}>
          Sign in
        </Button>
      </form>
    </Door>
  );
}
