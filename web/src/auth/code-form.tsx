import { Button, Checkbox, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { logInWithPasskey, passkeyFailure, usePasskeysOffered } from "../api/passkeys.ts";
import { useConfig } from "../api/product-config.ts";
import { useBrand } from "../api/use-brand.ts";
import { commonTexts } from "../content/common-texts.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./auth-page.module.css";
import { codeFailure } from "./failure-text.ts";
import { loginWithCode, type WaitingLogin } from "./sign-in.ts";

interface Props {
  readonly waiting: WaitingLogin;
  /** To the password. */
  readonly onBack: () => void;
}

/** The second step of a login: a code of the authenticator app, or a recovery code (G398, G399). */
export function CodeForm({ waiting, onBack }: Props) {
  const [recovery, setRecovery] = useState(false);
  const { email: contact } = useBrand();
  const ownProvider = useConfig()?.identity.kind === "local";
  const form = useForm({ initialValues: { code: "", trust: false }, onValuesChange: () => form.clearErrors() });
  const { mutate, isPending } = useMutation({
    // On success the stored session replaces this screen.
    mutationFn: ({ code, trust }: typeof form.values) => loginWithCode(waiting, code.trim(), trust),
    onError: (error) => {
      const text = codeFailure(error);
      if (text !== undefined) return form.setFieldError("code", text);
      toast.error(commonTexts.codeTooLate, { title: "Login Failed" });
      onBack();
    },
  });
  const passkey = useMutation({
    mutationFn: () => logInWithPasskey(),
    onError: (error) => toast.error(passkeyFailure(error), { title: "Login Failed" }),
  });
  const offersPasskey = usePasskeysOffered() && waiting.hasPasskeys;
  const submit = form.onSubmit((fields) => {
    if (!isPending && fields.code.trim() !== "") mutate(fields);
  });
  return (
    <form className={classes.fields} noValidate onSubmit={submit} aria-label="Code">
      <p className={classes.lead}>
        {recovery
          ? "Each of the ten codes that you kept works once, instead of the app."
          : `Your authenticator app shows six digits for ${waiting.email}.`}
      </p>
      <TextInput
        key={recovery ? "recovery" : "app"}
        label={recovery ? "Recovery code" : "Six digits"}
        size="md"
        autoFocus
        {...(recovery
          ? { autoComplete: "off", placeholder: "k7dq-mx3a-9wzp", autoCapitalize: "none", spellCheck: false }
          : { autoComplete: "one-time-code", inputMode: "numeric" as const, placeholder: "123 456" })}
        {...form.getInputProps("code")}
      />
      {ownProvider && (
        <Checkbox
          className={classes.trust ?? ""}
          label="Trust this browser for 30 days"
          {...form.getInputProps("trust", { type: "checkbox" })}
        />
      )}
      <Button type="submit" size="md" fullWidth loading={isPending}>
        Login
      </Button>
      <p className={classes.ways}>
        <button
          type="button"
          onClick={() => {
            form.setFieldValue("code", "");
            setRecovery(!recovery);
          }}
        >
          {recovery ? "Use the app" : "Use a recovery code"}
        </button>
        {offersPasskey && (
          <button type="button" disabled={passkey.isPending} onClick={() => passkey.mutate()}>
            Use a passkey
          </button>
        )}
        <button type="button" onClick={onBack}>
          Back to login
        </button>
      </p>
      {recovery && (
        <p className={classes.card}>
          No code left either? Write to{" "}
          <a className="link" href={`mailto:${contact}`}>
            {contact}
          </a>
          .
        </p>
      )}
    </form>
  );
}
