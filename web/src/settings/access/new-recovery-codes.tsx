import { renewRecoveryCodes } from "@berth/contract";
import { useMutation } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { CodeField } from "./code-field.tsx";
import { KeepRecoveryCodes } from "./keep-recovery-codes.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
  readonly onDone: () => void;
}

export function NewRecoveryCodes({ userId, onDone }: Props) {
  const { mutate, data, isPending, error, reset } = useMutation({
    mutationFn: (code: string) => call(renewRecoveryCodes, { params: { user_id: userId }, body: { code } }),
  });
  if (data) return <KeepRecoveryCodes codes={data.recovery_codes} onDone={onDone} />;
  return (
    <div>
      <p className={classes.text}>Ten new codes; the ones that you have now stop working.</p>
      <CodeField
        label="Code of the app, or a recovery code"
        action="Make new codes"
        busy={isPending}
        error={error && messageOf(error)}
        onChange={reset}
        onCode={mutate}
        recovery
      />
    </div>
  );
}
