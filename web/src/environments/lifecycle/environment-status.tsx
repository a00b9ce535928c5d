import { useUnit } from "../../api/use-unit.ts";
import { Status } from "../../ui/display/status.tsx";
import type { Environment } from "./environment.ts";
import { stageText } from "./timeline-of.ts";

/** The status, with the stage of a start (G29). */
export function EnvironmentStatus({ environment }: { readonly environment: Environment }) {
  if (environment.status === "pending") return <Starting environment={environment} />;
  return <Status value={environment.status} />;
}

function Starting({ environment: { status, stage, stage_percent, waits_for } }: { readonly environment: Environment }) {
  return <Status value={status} stage={stageText({ stage, percent: stage_percent, waitsFor: waits_for }, useUnit())} />;
}
