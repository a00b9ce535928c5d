import type { IssueType } from "@berth/contract";

interface Row {
  readonly issue: IssueType;
  readonly session: string | null;
  readonly payment: string | null;
}

/** Where a row's "Get support" leads: the form with what support will ask for (G70). support/prefill.ts reads it. */
export function supportPath({ issue, session, payment }: Row): string {
  const params = new URLSearchParams({ issue });
  if (session !== null) params.set("session", session);
  if (payment !== null) params.set("payment", payment);
  return `/support?${params}`;
}
