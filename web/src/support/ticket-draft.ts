import { type IssueType, issueTypes, maxSupportText } from "@berth/contract";

export interface TicketDraft {
  readonly issueType: IssueType | null;
  readonly description: string;
}

/** Parses `?issue=container_issues&session=...&payment=...` (G70); anything else is ignored. */
export function ticketDraftOf(params: URLSearchParams): TicketDraft {
  const issue = params.get("issue");
  const lines = [line("Session ID", params.get("session")), line("Payment reference", params.get("payment"))].filter(
    (text) => text !== "",
  );
  return {
    issueType: issueTypes.find((known) => known === issue) ?? null,
    description: lines.length === 0 ? "" : `${lines.join("\n")}\n\n`.slice(0, maxSupportText),
  };
}

function line(label: string, value: string | null): string {
  return value !== null && /^[\w-]{1,64}$/.test(value) ? `${label}: ${value}` : "";
}
