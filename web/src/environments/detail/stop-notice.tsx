import { Button } from "@mantine/core";
import { Notice } from "../../ui/display/notice.tsx";
import type { Detail } from "../lifecycle/environment.ts";

interface Props {
  readonly environment: Detail;
  readonly busy: boolean;
  readonly onStart: () => void;
}

const noHomeText =
  "It was not started, because an empty folder in their place would look like yours. Its clock stands still. Whoever runs this service has been told; start it again when the files are back.";

/** The reason for a stop by the system, and a remedy; or why it cannot be started now. At the top of the page, because the notice and the mail link here (G106, G111). */
export function StopNotice({ environment: { name, status, stop_reason, moving_percent }, busy, onStart }: Props) {
  if (status !== "stopped") return null;
  if (moving_percent !== null)
    return (
      <Notice tone="hold" title="Moving your files">
        {moving_percent} % of them are on another machine. {name} can be started when all are there. Its name and its
        address stay.
      </Notice>
    );
  if (stop_reason === "no_home")
    return (
      <Notice tone="fail" title={`The files of ${name} are not there`}>
        {noHomeText}
      </Notice>
    );
  if (stop_reason !== "silent") return null;
  return (
    <Notice
      tone="hold"
      title="JupyterLab did not answer"
      action={
        <Button size="xs" variant="default" loading={busy} onClick={onStart}>
          Start without my settings
        </Button>
      }
    >
      Its container ran for ten minutes, so something in its files keeps JupyterLab from starting. Your files are kept.
      Without your settings nothing of them is read or run before JupyterLab answers.
    </Notice>
  );
}
