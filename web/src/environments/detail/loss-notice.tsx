import { Button } from "@mantine/core";
import { dateTime } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import type { Detail } from "../lifecycle/environment.ts";
import classes from "./loss-notice.module.css";

interface Props {
  readonly environment: Detail;
  readonly busy: boolean;
  readonly onEnd: () => void;
  readonly onStartFresh: () => void;
}

/** Its machine gives no sign: what happens by itself, and the other choices (G181, G202). At the top, because notice and mail link here. */
export function LossNotice({ environment, busy, onEnd, onStartFresh }: Props) {
  const { name, status, lost_since, may_start_fresh } = environment;
  if (status !== "unknown" || (lost_since === null && !may_start_fresh)) return null;
  const choices = (
    <div className={classes.choices}>
      {may_start_fresh && (
        <Button size="xs" variant="default" disabled={busy} onClick={onStartFresh}>
          Start without its files
        </Button>
      )}
      {lost_since !== null && (
        <Button size="xs" variant="default" disabled={busy} onClick={onEnd}>
          End it for a refund
        </Button>
      )}
    </div>
  );
  if (lost_since === null)
    return (
      <Notice tone="fail" title={`The machine of ${name} does not answer`} action={choices}>
        The clock stands still. {name} goes on by itself with its files when its machine is back. If you do not want to
        wait, it can start on another machine with an empty folder.
      </Notice>
    );
  return (
    <Notice tone="fail" title={`The machine of ${name} has failed`} action={choices}>
      It gives no sign since {dateTime(lost_since)}, and the clock stands still since then. {name} goes on by itself
      with its files, on another machine if they can be reached from there, else when its own is back. If you do not
      want to wait, it can start on another machine with an empty folder, or end: then the rest of its time is paid
      back.
    </Notice>
  );
}
