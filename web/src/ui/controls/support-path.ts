import type { IssueType } from "@berth/contract";

interface Row {
  readonly issue: IssueType;
  readonly session: string | null;
  readonly payment: string | null;
}

/** The link of "Get support", with the identifiers that support needs (G70). Parsed by support/ticket-draft.ts. */
export function supportPath({ issue, session, payment }: Row): string {
  const params = new URLSearchParams({ issue });
  if (session !== null) params.set("session", session);
  if (payment !== null) params.set("payment", payment);
  return `/support?${params}`;
}
