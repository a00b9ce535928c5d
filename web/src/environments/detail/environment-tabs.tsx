import { mayExtend } from "@berth/contract";
import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { useSearchParams } from "react-router";
import { type Detail, isFirstLaunch, stillSince } from "../lifecycle/environment.ts";
import { EnvironmentMetrics } from "../metrics/environment-metrics.tsx";
import { EnvironmentPassword } from "./access/environment-password.tsx";
import { EnvironmentPorts } from "./access/environment-ports.tsx";
import { EnvironmentSessions } from "./access/environment-sessions.tsx";
import { EnvironmentShares } from "./access/environment-shares.tsx";
import { EnvironmentSsh } from "./access/environment-ssh.tsx";
import { EnvironmentDone } from "./environment-done.tsx";
import { EnvironmentIdle } from "./environment-idle.tsx";
import { EnvironmentLaunch } from "./environment-launch.tsx";
import { EnvironmentLogs } from "./environment-logs.tsx";
import classes from "./environment-page.module.css";
import { EnvironmentReferences } from "./environment-references.tsx";
import { EnvironmentSummary } from "./environment-summary.tsx";

interface Part {
  readonly value: "overview" | "use" | "share" | "access" | "logs";
  readonly label: string;
  readonly content: ReactNode;
}

/** The page in five parts (G343); the open one is in the URL (CONTRIBUTING 10). One that the status does not allow is left out. */
export function EnvironmentTabs({ environment }: { readonly environment: Detail }) {
  const [params, setParams] = useSearchParams();
  const parts = partsOf(environment);
  const open = parts.find(({ value }) => value === params.get("tab")) ?? parts[0];
  const show = (tab: string | null) =>
    setParams(tab === null || tab === "overview" ? {} : { tab }, { replace: true, preventScrollReset: true });
  return (
    <Tabs value={open?.value ?? null} onChange={show} keepMounted={false}>
      <Tabs.List className={classes.tabs ?? ""} mb={24} aria-label="Parts of this page">
        {parts.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function partsOf(environment: Detail): readonly Part[] {
  const { status, gpu, jupyter_token } = environment;
  const hasUse = !isFirstLaunch(environment);
  const parts: readonly (Part | false)[] = [
    { value: "overview", label: "Overview", content: <Overview environment={environment} /> },
    hasUse && {
      value: "use",
      label: "Use",
      content: <EnvironmentMetrics environment={environment} hasGpu={gpu !== null} />,
    },
    mayExtend[status] && { value: "share", label: "Share", content: <EnvironmentShares environment={environment} /> },
    jupyter_token !== null && {
      value: "access",
      label: "Access",
      content: (
        <div className={classes.story}>
          {status === "active" && <EnvironmentPorts environment={environment} />}
          <EnvironmentSsh environment={environment} />
          <EnvironmentPassword environment={environment} />
        </div>
      ),
    },
    { value: "logs", label: "Logs", content: <EnvironmentLogs environment={environment} /> },
  ];
  return parts.filter((part) => part !== false);
}

function Overview({ environment }: { readonly environment: Detail }) {
  const { status, sessions, stages } = environment;
  return (
    <div className={classes.columns}>
      {/* First in the tab order, because it is first on a phone. */}
      <EnvironmentSummary environment={environment} />
      <div className={classes.story}>
        <EnvironmentSessions sessions={sessions} since={stillSince(environment)} />
        {(status === "active" || status === "paused") && <EnvironmentDone environment={environment} />}
        {mayExtend[status] && <EnvironmentIdle environment={environment} />}
        {status !== "pending" && stages.length > 0 && <EnvironmentLaunch environment={environment} />}
      </div>
      <EnvironmentReferences environment={environment} />
    </div>
  );
}
