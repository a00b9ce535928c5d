import { readMachines } from "@berth/contract/console/machines";
import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../../api/call.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { GpuTable } from "./gpu-table.tsx";
import { HostTable } from "./host-table.tsx";

/** Every host and GPU, and what can be done with them. */
export function MachinesPage() {
  const [request, setRequest] = useState<ActRequest>();
  const { data, error, refetch } = useQuery({
    queryKey: ["machines"],
    queryFn: ({ signal }) => callConsole(readMachines, { params: {}, body: {} }, signal),
  });
  return (
    <div className={list.page}>
      {error && (
        <Notice
          tone="fail"
          title="The machines could not be read"
          alert
          action={<Button onClick={() => refetch()}>Try again</Button>}
        >
          {messageOf(error)}
        </Notice>
      )}
      {!data && !error && <Skeleton height={320} radius="lg" role="status" aria-label="Reading the machines" />}
      {data?.hosts.length === 0 && (
        <EmptyState title="There is no host yet" bare>
          The server's own machine stands here once its worker has started.
        </EmptyState>
      )}
      {data && data.hosts.length > 0 && <HostTable hosts={data.hosts} gpus={data.gpus} onAct={setRequest} />}
      {data && data.gpus.length > 0 && <GpuTable gpus={data.gpus} onAct={setRequest} />}
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </div>
  );
}
