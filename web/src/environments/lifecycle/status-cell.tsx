import type { EndedReason } from "@berth/contract";
import { useNow } from "../../ui/display/use-now.ts";
import { type Environment, isFirstLaunch } from "./environment.ts";
import { EnvironmentStatus } from "./environment-status.tsx";
import { waitTexts } from "./timeline-of.ts";

const endedTexts: Readonly<Record<EndedReason, string>> = {
  expired: "Time is used up",
  terminated: "Ended by you",
  cancelled: "Cancelled, refunded",
  not_delivered: "Not delivered, refunded",
  silent: "JupyterLab did not answer, refunded",
  hardware: "Hardware failed",
  operator: "Ended by the operator",
};

function endedText({ ended_reason: reason, waits_for: wait }: Environment): string | undefined {
  if (reason === null) return undefined;
  return reason === "not_delivered" && wait ? `${endedTexts[reason]}: ${waitTexts[wait].failed}` : endedTexts[reason];
}

/** The status with one detail. */
export function StatusCell({ environment }: { readonly environment: Environment }) {
  const { status, moving_percent } = environment;
  const ended = endedText(environment);
  return (
    <>
      <EnvironmentStatus environment={environment} />
      {isFirstLaunch(environment) && <Elapsed since={environment.created_at} />}
      {status === "stopped" && moving_percent !== null && <small>Moving its files, {moving_percent} %</small>}
      {status === "paused" && <small>Clock is running</small>}
      {status === "terminated" && ended && <small>{ended}</small>}
    </>
  );
}

/** Seconds since the payment, which is `created_at` before it is ready (G28); never negative, because clocks differ. */
function Elapsed({ since }: { readonly since: string }) {
  const now = useNow(1_000);
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  return <small>{seconds < 120 ? `${seconds} s so far` : `${Math.floor(seconds / 60)} min so far`}</small>;
}
