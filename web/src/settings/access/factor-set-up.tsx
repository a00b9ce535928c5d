import { beginSecondFactor, confirmSecondFactor, type ReplyOf } from "@berth/contract";
import { Button } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { PasswordField } from "../../ui/controls/password-field.tsx";
import { CodeField } from "./code-field.tsx";
import { KeepRecoveryCodes } from "./keep-recovery-codes.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
  readonly onDone: () => void;
}

/** The password, then the app and a code of it, then the recovery codes. */
export function FactorSetUp({ userId, onDone }: Props) {
  const [offered, setOffered] = useState<ReplyOf<typeof beginSecondFactor>>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes) return <KeepRecoveryCodes codes={codes} lead="Two-factor sign-in is on." onDone={onDone} />;
  if (offered) return <AppStep userId={userId} offered={offered} onCodes={setCodes} />;
  return <PasswordStep userId={userId} onOffered={setOffered} />;
}

interface PasswordProps {
  readonly userId: string;
  readonly onOffered: (offered: ReplyOf<typeof beginSecondFactor>) => void;
}

function PasswordStep({ userId, onOffered }: PasswordProps) {
  const form = useForm({ initialValues: { password: "" }, onValuesChange: () => form.clearErrors() });
  const { mutate, isPending } = useMutation({
    mutationFn: (password: string) => call(beginSecondFactor, { params: { user_id: userId }, body: { password } }),
    onSuccess: onOffered,
    onError: (error) => form.setFieldError("password", messageOf(error)),
  });
  const submit = form.onSubmit(({ password }) => {
    if (!isPending && password !== "") mutate(password);
  });
  return (
    <form noValidate onSubmit={submit} aria-label="Password">
      <p className={classes.text}>
        You need an authenticator app, such as the one of your password manager, Google or Microsoft.
      </p>
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        data-autofocus
        {...form.getInputProps("password")}
      />
      <div className={classes.end}>
        <Button type="submit" loading={isPending}>
          Continue
        </Button>
      </div>
    </form>
  );
}

interface AppProps {
  readonly userId: string;
  readonly offered: ReplyOf<typeof beginSecondFactor>;
  readonly onCodes: (codes: readonly string[]) => void;
}

function AppStep({ userId, offered, onCodes }: AppProps) {
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (code: string) => call(confirmSecondFactor, { params: { user_id: userId }, body: { code } }),
    onSuccess: ({ recovery_codes }) => onCodes(recovery_codes),
  });
  return (
    <div>
      <p className={classes.text}>Scan this with the app, or type the key there.</p>
      <img className={classes.picture} src={offered.picture} alt="QR code for the authenticator app" />
      <p className={classes.key}>
        <CopyText
          value={offered.secret}
          shown={offered.secret.match(/.{1,4}/g)?.join(" ") ?? ""}
          label="the key for the authenticator app"
        />
      </p>
      <CodeField
        label="Six digits that the app shows"
        action="Turn on"
        busy={isPending}
        error={error && messageOf(error)}
        onChange={reset}
        onCode={mutate}
      />
      <p className={classes.note}>Every other sign-in of your account ends.</p>
    </div>
  );
}
