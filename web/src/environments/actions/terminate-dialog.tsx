import { TypedConfirmation } from "../../ui/dialogs/typed-confirmation.tsx";
import type { Environment } from "../lifecycle/environment.ts";

interface Props {
  /** Undefined while closed. */
  readonly environment: Environment | undefined;
  readonly retentionDays: number | undefined;
  /** Its machine has failed. */
  readonly isRefunded?: boolean;
  readonly onClose: () => void;
  readonly onConfirm: (environment: Environment) => void;
}

/** Ends an environment for good (G27). */
export function TerminateDialog({ environment, retentionDays, isRefunded = false, onClose, onConfirm }: Props) {
  const kept = retentionDays === undefined ? "kept for a while" : `kept for ${retentionDays} days`;
  return (
    <TypedConfirmation
      opened={environment !== undefined}
      title={`Terminate ${environment?.name ?? ""}?`}
      expected={environment?.subdomain ?? ""}
      action="Terminate"
      onClose={onClose}
      onConfirm={() => environment && onConfirm(environment)}
    >
      The environment ends now, and time that is left or banked is {isRefunded ? "" : "not "}refunded. Its files are{" "}
      {kept} and come back when you launch an environment with the same name.
    </TypedConfirmation>
  );
}
