import { longestReason } from "@berth/contract/console/reason";
import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { messageOf } from "../../api/call.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { toast } from "../../ui/toast/toast.ts";
import classes from "./act-dialog.module.css";

export interface ActRequest {
  readonly title: string;
  /** The label of the button. */
  readonly action: string;
  /** What follows from it. */
  readonly consequences: ReactNode;
  /** Further fields, whose values the caller keeps. */
  readonly fields?: ReactNode;
  /** False while a further field has no value that can be sent. */
  readonly complete?: boolean;
  /** Who reads the reason, where that is not the audit alone. */
  readonly reasonHint?: string;
  /** A name to type, for what cannot be undone. */
  readonly expected?: string;
  /** Does it; returns the sentence that says what was done. */
  readonly run: (reason: string, typed: string) => Promise<{ readonly message: string }>;
}

interface Props {
  /** Undefined: closed. */
  readonly request: ActRequest | undefined;
  readonly onClose: () => void;
}

/** Every act is confirmed here, with a reason for the audit (G145). */
export function ActDialog({ request, onClose }: Props) {
  return (
    <Dialog opened={request !== undefined} title={request?.title ?? ""} onClose={onClose}>
      {request && <Form key={request.title} request={request} onClose={onClose} />}
    </Dialog>
  );
}

const auditReads = "The audit keeps it. Names and addresses do not belong here.";

function Form({ request, onClose }: { readonly request: ActRequest; readonly onClose: () => void }) {
  const { action, consequences, fields, complete = true, reasonHint = auditReads, expected, run } = request;
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => run(reason.trim(), typed.trim()),
    onSuccess: ({ message }) => {
      toast.success(message);
      onClose();
    },
    // A refused act may mean that the screen is not current.
    onSettled: () => client.invalidateQueries(),
  });
  const ready = complete && reason.trim() !== "" && (expected === undefined || typed.trim() === expected);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !isPending) mutate();
  };
  return (
    <form className={classes.form} noValidate onSubmit={submit}>
      <p>{consequences}</p>
      {fields}
      <Textarea
        label="Reason"
        description={reasonHint}
        maxLength={longestReason}
        rows={3}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus={fields === undefined || undefined}
      />
      {expected !== undefined && (
        <TextInput
          label={`Type ${expected} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <p role="alert" className={classes.error}>
        {error && messageOf(error)}
      </p>
      <div className={classes.buttons}>
        <Button variant="subtle" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" variant="default" disabled={!ready} loading={isPending}>
          {action}
        </Button>
      </div>
    </form>
  );
}
