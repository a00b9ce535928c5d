import { addPasskey, beginPasskey, deviceWords } from "@berth/contract";
import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/call.ts";
import { createPasskey, passkeyFailure } from "../../api/passkeys.ts";
import { ProofField, type ProofKind } from "./proof-field.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
  readonly proof: ProofKind;
  readonly onDone: () => void;
}

/** The proof and a name; then the browser asks where the passkey is kept. */
export function PasskeySetUp({ userId, proof, onDone }: Props) {
  const [typed, setTyped] = useState("");
  const [name, setName] = useState(() => deviceWords(navigator.userAgent));
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async () => {
      const params = { user_id: userId };
      const { options } = await call(beginPasskey, { params, body: { [proof]: typed } });
      const credential = await createPasskey(options);
      await call(addPasskey, { params, body: { name: name.trim(), credential } });
    },
    onSuccess: onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending && typed.trim() !== "" && name.trim() !== "") mutate();
  };
  // Of the proof; the rest is about the passkey.
  const isProofWrong = error instanceof ApiError && error.code === "wrong_password";
  return (
    <form noValidate onSubmit={submit} aria-label="New passkey">
      <p className={classes.text}>
        The browser asks next where it is kept: on this device, in your password manager, on a phone or a security key.
      </p>
      <ProofField
        kind={proof}
        value={typed}
        error={isProofWrong ? passkeyFailure(error) : null}
        onChange={(value) => {
          setTyped(value);
          reset();
        }}
      />
      <TextInput
        mt={16}
        label="Name"
        description="To tell it from others in this list"
        autoComplete="off"
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <p role="alert" className={classes.failure}>
        {error && !isProofWrong ? passkeyFailure(error) : ""}
      </p>
      <div className={classes.end}>
        <Button type="submit" loading={isPending}>
          Continue
        </Button>
      </div>
    </form>
  );
}
