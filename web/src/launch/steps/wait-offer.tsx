import type { Capacity } from "@berth/contract";
import { Button } from "@mantine/core";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { QueuePosition } from "../../environments/queue/queue-notice.tsx";
import type { Queue } from "../../environments/queue/use-queue.ts";
import { countChoices } from "../draft/choices.ts";
import classes from "./choices.module.css";

/** Where a count is not free: a place in line for it, or the one that is there already. */
export function WaitOffer({ capacity, line }: { readonly capacity: Capacity | undefined; readonly line: Queue }) {
  if (line.place)
    return (
      <div className={classes.line}>
        <QueuePosition line={line} here />
      </div>
    );
  const taken = countChoices(capacity, 0).filter(({ gpus, free }) => !free && gpus <= (capacity?.total ?? 0));
  if (line.place === undefined || taken.length === 0) return null;
  return (
    <div className={classes.line}>
      <div className={classes.waits}>
        {taken.map(({ gpus }) => (
          <Button key={gpus} size="xs" variant="default" disabled={line.busy} onClick={() => line.wait(gpus)}>
            {texts.wait(gpus)}
          </Button>
        ))}
      </div>
      <p className={classes.hint}>{texts.offer}</p>
    </div>
  );
}
