import { plural } from "@berth/contract";
import { Confirmation } from "../../ui/dialogs/confirmation.tsx";
import type { Environment } from "../lifecycle/environment.ts";

interface Props {
  /** Undefined while closed. */
  readonly environment: Environment | undefined;
  readonly retentionDays: number | undefined;
  readonly onClose: () => void;
  readonly onConfirm: (environment: Environment) => void;
}

/** Starts an environment on another machine without its files (G202, G203). */
export function FreshStartDialog({ environment, retentionDays, onClose, onConfirm }: Props) {
  const name = environment?.name ?? "";
  const kept = retentionDays === undefined ? "for a while" : `for ${plural(retentionDays, "day")}`;
  return (
    <Confirmation
      opened={environment !== undefined}
      title={`Start ${name} without its files?`}
      action="Start without its files"
      keep="Wait for the machine"
      busy={false}
      onClose={onClose}
      onConfirm={() => environment && onConfirm(environment)}
    >
      <p>
        {name} starts on another machine with an empty folder. Its name, its address and the time left stay; none of its
        notebooks, data and installed packages come with it.
      </p>
      <p>
        They stay on the machine that failed, and do not come back into {name} by themselves. When that machine is back,
        you can download them under Kept files {kept}. If it never comes back, they are lost.
      </p>
    </Confirmation>
  );
}
