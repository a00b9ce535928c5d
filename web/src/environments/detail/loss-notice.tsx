import { Button } from "@mantine/core";
import { dateTime } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import type { Detail } from "../lifecycle/environment.ts";

interface Props {
  readonly environment: Detail;
  readonly onEnd: () => void;
}

/** Its machine is lost: what happens by itself, and the other choice (G181). At the top, because notice and mail link here. */
export function LossNotice({ environment: { name, status, lost_since }, onEnd }: Props) {
  if (status !== "unknown" || lost_since === null) return null;
  return (
    <Notice
      tone="fail"
      title={`The machine of ${name} has failed`}
      action={
        <Button size="xs" variant="default" onClick={onEnd}>
          End it for a refund
        </Button>
      }
    >
      It gives no sign since {dateTime(lost_since)}, and the clock stands still since then. It goes on by itself with
      its files, on another machine if they can be reached from there, else when its own is back. If you do not want to
      wait, the rest of its time is paid back.
    </Notice>
  );
}
