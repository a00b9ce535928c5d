import { removeSecondFactor } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { CodeField } from "./code-field.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function FactorRemoval({ userId, onClose, onDone }: Props) {
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (code: string) => call(removeSecondFactor, { params: { user_id: userId }, body: { code } }),
    onSuccess: onDone,
  });
  return (
    <div>
      <p className={classes.text}>
        Whoever has your password can log in then. Your recovery codes stop working, and every other sign-in ends.
      </p>
      <CodeField
        label="Code of the app, or a recovery code"
        action="Turn off"
        busy={isPending}
        error={error && messageOf(error)}
        onChange={reset}
        onCode={mutate}
        recovery
        danger
        more={
          <Button variant="subtle" onClick={onClose}>
            Keep it on
          </Button>
        }
      />
    </div>
  );
}
