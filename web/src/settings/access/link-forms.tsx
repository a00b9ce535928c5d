import { beginLink, type LinkedAccount, removeLink } from "@berth/contract";
import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { PasswordField } from "../../ui/controls/password-field.tsx";
import classes from "./second-factor.module.css";

interface ConnectProps {
  readonly userId: string;
  readonly provider: string;
  readonly name: string;
}

export function ConnectForm({ userId, provider, name }: ConnectProps) {
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: (password: string) => call(beginLink, { params: { user_id: userId }, body: { provider, password } }),
    onSuccess: ({ start }) => location.assign(start),
  });
  return (
    <PasswordForm action={`Continue to ${name}`} busy={isPending || isSuccess} error={error} onPassword={mutate}>
      Your account there logs in to yours here from then on, whatever its email address.
    </PasswordForm>
  );
}

interface DisconnectProps {
  readonly userId: string;
  readonly account: LinkedAccount;
  readonly onDone: () => void;
}

export function DisconnectForm({ userId, account, onDone }: DisconnectProps) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: (password: string) =>
      call(removeLink, { params: { user_id: userId, link_id: account.id }, body: { password } }),
    onSuccess: onDone,
  });
  return (
    <PasswordForm action="Disconnect" busy={isPending} error={error} onPassword={mutate} danger>
      You log in with your password then. Where you are signed in stays so.
    </PasswordForm>
  );
}

interface Props {
  readonly action: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onPassword: (password: string) => void;
  readonly danger?: boolean;
  readonly children: string;
}

function PasswordForm({ action, busy, error, onPassword, danger, children }: Props) {
  const form = useForm({ initialValues: { password: "" } });
  const submit = form.onSubmit(({ password }) => {
    if (!busy && password !== "") onPassword(password);
  });
  return (
    <form noValidate onSubmit={submit} aria-label="Password">
      <p className={classes.text}>{children}</p>
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        data-autofocus
        {...form.getInputProps("password")}
        error={error && messageOf(error)}
      />
      <div className={classes.end}>
        <Button type="submit" loading={busy} {...(danger && { variant: "default", className: classes.danger ?? "" })}>
          {action}
        </Button>
      </div>
    </form>
  );
}
