import { removePasskey } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { ProofField, type ProofKind } from "./proof-field.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
  readonly passkeyId: string;
  readonly proof: ProofKind;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function PasskeyRemoval({ userId, passkeyId, proof, onClose, onDone }: Props) {
  const [typed, setTyped] = useState("");
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () =>
      call(removePasskey, { params: { user_id: userId, passkey_id: passkeyId }, body: { [proof]: typed.trim() } }),
    onSuccess: onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending && typed.trim() !== "") mutate();
  };
  return (
    <form noValidate onSubmit={submit} aria-label="Remove the passkey">
      <p className={classes.text}>
        It logs nobody in any more. Where it has logged in already, end that under "Where you are signed in". Delete it
        on the device too.
      </p>
      <ProofField
        kind={proof}
        value={typed}
        error={error && messageOf(error)}
        onChange={(value) => {
          setTyped(value);
          reset();
        }}
      />
      <div className={classes.end}>
        <Button variant="subtle" onClick={onClose}>
          Keep it
        </Button>
        <Button type="submit" variant="default" className={classes.danger ?? ""} loading={isPending}>
          Remove
        </Button>
      </div>
    </form>
  );
}
