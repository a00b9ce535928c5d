import { useQuery } from "@tanstack/react-query";
import { environmentQuery } from "../../api/queries.ts";
import { TypedConfirmation } from "../../ui/dialogs/typed-confirmation.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Environment } from "../lifecycle/environment.ts";
import { givenUp } from "../lifecycle/given-up.ts";

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
  const detail = useQuery({ ...environmentQuery(environment?.id ?? ""), enabled: environment !== undefined }).data;
  const now = useNow();
  const left = environment && givenUp({ ...environment, booked: detail?.booked }, now);
  return (
    <TypedConfirmation
      opened={environment !== undefined}
      title={`Terminate ${environment?.name ?? ""}?`}
      expected={environment?.subdomain ?? ""}
      action="Terminate"
      onClose={onClose}
      onConfirm={() => environment && onConfirm(environment)}
    >
      The environment ends now. What is left is {isRefunded ? "" : "not "}refunded{left && `: ${left}`}. Its files are{" "}
      {kept} and come back when you launch an environment with the same name.
    </TypedConfirmation>
  );
}
