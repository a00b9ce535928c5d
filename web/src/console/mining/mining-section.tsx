import { readMining } from "@berth/contract/console/mining";
import { useQuery } from "@tanstack/react-query";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { MiningFindings } from "./mining-findings.tsx";

/** Environments that look like mining and wait for a person; nothing while there are none. */
export function MiningSection() {
  const { data, error, refetch } = useQuery({
    queryKey: ["mining"],
    queryFn: ({ signal }) => callConsole(readMining, { params: {}, body: {} }, signal),
  });
  if (error) return <NotRead what="What looks like mining" error={error} onAgain={refetch} />;
  if (!data || data.findings.length === 0) return null;
  return (
    <section aria-label="Looks like crypto mining">
      <h2 className={list.title}>Looks like crypto mining</h2>
      <MiningFindings findings={data.findings} />
    </section>
  );
}
