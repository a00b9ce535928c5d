import type { IssueType } from "@berth/contract";

interface Row {
  readonly issue: IssueType;
  readonly session: string | null;
  readonly payment: string | null;
}

/** The address of "Get support": the form with the identifiers that support asks for (G70). support/ticket-draft.ts reads it. */
export function supportPath({ issue, session, payment }: Row): string {
  const params = new URLSearchParams({ issue });
  if (session !== null) params.set("session", session);
  if (payment !== null) params.set("payment", payment);
  return `/support?${params}`;
}
