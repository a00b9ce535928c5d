import { type OperatedEnvironment, readOperatedEnvironment } from "@berth/contract/console/environments";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import { EnvironmentSessions } from "../../environments/detail/access/environment-sessions.tsx";
import { timelineOf } from "../../environments/lifecycle/timeline-of.ts";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { LaunchTimeline } from "../../ui/display/launch-timeline.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { Status } from "../../ui/display/status.tsx";
import { ActTable } from "../audit/act-table.tsx";
import { callConsole } from "../frame/call-console.ts";
import detail from "../frame/detail.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { useUnit } from "../frame/use-unit.ts";
import { MiningFindings } from "../mining/mining-findings.tsx";
import { EnvironmentActs } from "./environment-acts.tsx";
import { EnvironmentFacts } from "./environment-facts.tsx";

const back = { to: "/environments", label: "Environments" };
/** A launch is followed while somebody looks. */
const followMs = 2_000;

/** One environment from outside: never its address, files, logs or secrets (G147). */
export function EnvironmentPage() {
  const { environmentId = "" } = useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["environment", environmentId],
    queryFn: ({ signal }) => callConsole(readOperatedEnvironment, { params: { id: environmentId }, body: {} }, signal),
    refetchInterval: ({ state }) => (isChanging(state.data?.environment) ? followMs : false),
  });
  return (
    <DetailPage back={back}>
      {error && <NotRead what="The environment" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={420} radius="lg" role="status" aria-label="Reading the environment" />}
      {data && <Loaded environment={data.environment} />}
    </DetailPage>
  );
}

const goals = { running: "active", paused: "paused", stopped: "stopped", terminated: "terminated" } as const;

function isChanging(environment: OperatedEnvironment | undefined): boolean {
  return environment !== undefined && environment.status !== goals[environment.desired];
}

function Loaded({ environment }: { readonly environment: OperatedEnvironment }) {
  const { subdomain, status, last_error, sessions, acts, findings } = environment;
  return (
    <>
      <div className={detail.head}>
        <div>
          <h2>{subdomain}</h2>
          <Status value={status} />
        </div>
        <EnvironmentActs environment={environment} />
      </div>
      {last_error !== null && status !== "terminated" && (
        <Notice tone="fail" title="Its last step failed">
          {last_error}
        </Notice>
      )}
      <div className={detail.columns}>
        <div className={detail.story}>
          {findings.length > 0 && (
            <section aria-label="Looks like crypto mining">
              <h3 className="section-title">Looks like crypto mining</h3>
              <MiningFindings findings={findings} ofOne />
            </section>
          )}
          <Launch environment={environment} />
          <EnvironmentSessions sessions={sessions} />
          {acts.length > 0 && (
            <section aria-label="What operators did">
              <h3 className="section-title">What operators did</h3>
              <ActTable acts={acts} ofOne />
            </section>
          )}
        </div>
        <EnvironmentFacts environment={environment} />
      </div>
    </>
  );
}

function Launch({ environment: { stages, status, is_covered } }: { readonly environment: OperatedEnvironment }) {
  const lines = timelineOf(stages, null, null, is_covered, useUnit());
  const elapsed = Math.max(0, ...lines.map(({ at }) => at ?? 0));
  return (
    <section aria-label="Newest start">
      <h3 className="section-title">Newest start</h3>
      <div className={detail.launch}>
        <LaunchTimeline stages={lines} elapsed={elapsed} state={status === "pending" ? "running" : "idle"} />
      </div>
    </section>
  );
}
