import { checkAudit, searchAudit } from "@berth/contract/console/audit";
import { Button, Skeleton } from "@mantine/core";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { dateTime } from "../../format.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { ActTable } from "./act-table.tsx";
import { AuditCheck } from "./audit-check.tsx";
import { AuditFilter, type AuditView } from "./audit-filter.tsx";
import { dayStart } from "./day-start.ts";

/** What operators did, newest first; the filters are in the address. */
export function AuditPage() {
  const [parameters, setParameters] = useSearchParams();
  const view = { subject: parameters.get("subject") ?? "", since: parameters.get("since") ?? "" };
  const { subject } = view;
  const since = dayStart(view.since);
  const { data, error, refetch } = useQuery({
    queryKey: ["audit", subject, since],
    queryFn: ({ signal }) =>
      callConsole(searchAudit, { params: {}, body: { subject, ...(since && { since }) } }, signal),
    placeholderData: keepPreviousData,
  });
  const check = useMutation({ mutationFn: () => callConsole(checkAudit, { params: {}, body: {} }) });
  const filter = (next: AuditView) =>
    setParameters(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== "")));
  return (
    <div className={list.page}>
      <div className={list.head}>
        <AuditFilter key={`${subject} ${view.since}`} view={view} onFilter={filter} />
        <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
          Verify the chain
        </Button>
      </div>
      <AuditCheck result={check.data} error={check.error} />
      {error && <NotRead what="The audit" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={240} radius="lg" role="status" aria-label="Reading the audit" />}
      {data?.acts.length === 0 && <EmptyState title={emptyTitle(subject, since)} bare />}
      {data && data.acts.length > 0 && <ActTable acts={data.acts} />}
      {data?.acts.length === 100 && (
        <p className={list.hint}>The newest 100 acts. The command line lists more: operator -- audit --limit 1000</p>
      )}
    </div>
  );
}

function emptyTitle(subject: string, since: string | undefined): string {
  if (subject === "" && since === undefined) return "Nobody has done anything yet";
  return `No act${subject === "" ? "" : ` on ${subject}`}${since === undefined ? "" : ` since ${dateTime(since)}`}`;
}
