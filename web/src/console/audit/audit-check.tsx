import { plural } from "@berth/contract";
import type { VerifiedAudit } from "@berth/contract/console/audit";
import { messageOf } from "../../api/call.ts";
import { Notice } from "../../ui/display/notice.tsx";

interface Props {
  readonly result: VerifiedAudit | undefined;
  readonly error: Error | null;
}

/** Whether the chain of hashes holds. The hash that is shown proves later that no act was cut off. */
export function AuditCheck({ result, error }: Props) {
  if (error)
    return (
      <Notice tone="fail" title="The chain could not be verified" alert>
        {messageOf(error)}
      </Notice>
    );
  if (!result) return null;
  const { acts, head, broken } = result;
  if (broken !== null)
    return (
      <Notice tone="fail" title={`Entry ${broken} was changed or is missing`} alert>
        The {plural(acts, "entry", "entries")} before it are whole.
      </Notice>
    );
  return (
    <Notice tone="live" title={`The chain is whole: ${plural(acts, "entry", "entries")}`}>
      <span role="status">
        Hash of the newest: <span className="mono">{head}</span>
      </span>
    </Notice>
  );
}
