import type { EndedReason } from "@berth/contract";
import type { ListedEnvironment } from "@berth/contract/console/environments";
import { dateTime, duration } from "../../format.ts";
import { Status } from "../../ui/display/status.tsx";

export const endedTexts: Readonly<Record<EndedReason, string>> = {
  expired: "Its time was used",
  terminated: "Ended by its owner, or without money back",
  cancelled: "Cancelled before it was ready",
  not_delivered: "Not delivered",
  silent: "JupyterLab did not answer",
  hardware: "Its machine failed",
  operator: "Ended by an operator",
};

/** The status, with what is asked of it and with its time. */
export function EnvironmentState({ environment }: { readonly environment: ListedEnvironment }) {
  return (
    <>
      <Status value={environment.status} />
      <small>{detailOf(environment)}</small>
    </>
  );
}

function detailOf({ status, desired, ...times }: ListedEnvironment): string {
  const { created_at, expires_at, banked_seconds, terminated_at, ended_reason } = times;
  if (status === "terminated")
    return `${dateTime(terminated_at)}${ended_reason === null ? "" : `: ${endedTexts[ended_reason]}`}`;
  if (desired === "terminated") return "It ends";
  if (created_at === null) return "Not ready yet";
  if (status === "active" && desired === "stopped") return "It stops";
  return expires_at === null ? `${duration(banked_seconds)} banked` : `Until ${dateTime(expires_at)}`;
}
