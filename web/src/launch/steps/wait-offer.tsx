import type { Capacity } from "@berth/contract";
import { Button } from "@mantine/core";
import { useUnit } from "../../api/use-unit.ts";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { QueuePosition } from "../../environments/queue/queue-notice.tsx";
import type { Queue } from "../../environments/queue/use-queue.ts";
import { countChoices } from "../draft/choices.ts";
import classes from "./choices.module.css";

interface Props {
  /** The chosen count. */
  readonly gpus: number;
  readonly capacity: Capacity | undefined;
  readonly queue: Queue;
}

/** Offers to queue for the chosen count while it is not free, or shows the position in the queue. */
export function WaitOffer({ gpus, capacity, queue }: Props) {
  const unit = useUnit();
  if (queue.entry)
    return (
      <div className={classes.line}>
        <QueuePosition queue={queue} here />
      </div>
    );
  const isTaken = countChoices(capacity, 0).some((choice) => choice.gpus === gpus && choice.taken);
  if (queue.entry === undefined || !isTaken) return null;
  return (
    <div className={classes.line}>
      <div className={classes.waits}>
        <Button variant="default" disabled={queue.busy} onClick={() => queue.wait(gpus)}>
          {texts.wait(gpus, unit)}
        </Button>
      </div>
      <p className={classes.hint}>{texts.offer}</p>
    </div>
  );
}
