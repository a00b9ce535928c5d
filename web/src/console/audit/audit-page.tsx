import { checkAudit, searchAudit } from "@berth/contract/console/audit";
import { Button, Skeleton, TextInput } from "@mantine/core";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useSearchParams } from "react-router";
import { messageOf } from "../../api/call.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { ActTable } from "./act-table.tsx";
import { AuditCheck } from "./audit-check.tsx";

/** What operators did, newest first; the filter is in the address. */
export function AuditPage() {
  const [parameters, setParameters] = useSearchParams();
  const subject = parameters.get("subject") ?? "";
  const { data, error, refetch } = useQuery({
    queryKey: ["audit", subject],
    queryFn: ({ signal }) => callConsole(searchAudit, { params: {}, body: { subject } }, signal),
    placeholderData: keepPreviousData,
  });
  const check = useMutation({ mutationFn: () => callConsole(checkAudit, { params: {}, body: {} }) });
  const filter = (text: string) => setParameters(text === "" ? {} : { subject: text });
  return (
    <div className={list.page}>
      <div className={list.head}>
        <Filter key={subject} subject={subject} onFilter={filter} />
        <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
          Verify the chain
        </Button>
      </div>
      <AuditCheck result={check.data} error={check.error} />
      {error && (
        <Notice
          tone="fail"
          title="The audit could not be read"
          alert
          action={<Button onClick={() => refetch()}>Try again</Button>}
        >
          {messageOf(error)}
        </Notice>
      )}
      {!data && !error && <Skeleton height={240} radius="lg" role="status" aria-label="Reading the audit" />}
      {data?.acts.length === 0 && (
        <EmptyState title={subject ? `No act on ${subject}` : "Nobody has done anything yet"} bare />
      )}
      {data && data.acts.length > 0 && <ActTable acts={data.acts} />}
      {data?.acts.length === 100 && (
        <p className={list.hint}>The newest 100 acts. The command line lists more: operator -- audit --limit 1000</p>
      )}
    </div>
  );
}

function Filter({ subject, onFilter }: { readonly subject: string; readonly onFilter: (text: string) => void }) {
  const [text, setText] = useState(subject);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onFilter(text.trim());
  };
  return (
    <search>
      <form className={list.filter} onSubmit={submit}>
        <TextInput
          label="Id of a host, GPU, order or account"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
        {subject !== "" && (
          <Button variant="subtle" onClick={() => onFilter("")}>
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
