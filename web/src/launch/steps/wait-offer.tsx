import type { Capacity } from "@berth/contract";
import { Button } from "@mantine/core";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { QueuePosition } from "../../environments/queue/queue-notice.tsx";
import type { Queue } from "../../environments/queue/use-queue.ts";
import { countChoices } from "../draft/choices.ts";
import classes from "./choices.module.css";

/** Offers to queue for a count that is not free, or shows the position in the queue. */
export function WaitOffer({ capacity, queue }: { readonly capacity: Capacity | undefined; readonly queue: Queue }) {
  if (queue.entry)
    return (
      <div className={classes.line}>
        <QueuePosition queue={queue} here />
      </div>
    );
  const taken = countChoices(capacity, 0).filter(({ gpus, free }) => !free && gpus <= (capacity?.total ?? 0));
  if (queue.entry === undefined || taken.length === 0) return null;
  return (
    <div className={classes.line}>
      <div className={classes.waits}>
        {taken.map(({ gpus }) => (
          <Button key={gpus} size="xs" variant="default" disabled={queue.busy} onClick={() => queue.wait(gpus)}>
            {texts.wait(gpus)}
          </Button>
        ))}
      </div>
      <p className={classes.hint}>{texts.offer}</p>
    </div>
  );
}
