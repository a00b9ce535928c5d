import type { UserQueueEntry } from "@berth/contract";
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useUnit } from "../../api/use-unit.ts";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { dateTime } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import type { Tone } from "../../ui/display/status.tsx";
import classes from "./queue-notice.module.css";
import { type Queue, useQueue } from "./use-queue.ts";

/** The queue entry of the user; empty without one. */
export function QueueNotice({ userId }: { readonly userId: string }) {
  return <QueuePosition queue={useQueue(userId)} />;
}

/** `here`: on the launch page, without a link to it. */
export function QueuePosition({ queue, here = false }: { readonly queue: Queue; readonly here?: boolean }) {
  const unit = useUnit();
  if (!queue.entry) return null;
  const { tone, title, text, action } = noticeOf(queue.entry, queue, unit, here);
  return (
    <div role="status">
      <Notice tone={tone} title={title} action={<div className={classes.actions}>{action}</div>}>
        {text}
      </Notice>
    </div>
  );
}

interface NoticeParts {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  readonly action: ReactNode;
}

function noticeOf(entry: UserQueueEntry, queue: Queue, unit: UnitWords, here: boolean): NoticeParts {
  const { gpu_count: gpus, state, position, expected_at, held_until } = entry;
  if (state === "waiting")
    return {
      tone: "wait",
      title: texts.waiting(gpus, unit, position),
      text: `${expected_at ? texts.expected(dateTime(expected_at)) : texts.unknown} ${texts.tells}`,
      action: <Leave queue={queue}>{texts.leave}</Leave>,
    };
  if (state === "held")
    return {
      tone: "live",
      title: texts.held(gpus, unit, dateTime(held_until)),
      text: texts.heldText,
      action: (
        <>
          <Leave queue={queue}>{texts.giveUp}</Leave>
          {!here && (
            <Button size="xs" component={Link} to={`/environments/create?step=2&gpus=${gpus}`}>
              {texts.launch}
            </Button>
          )}
        </>
      ),
    };
  return {
    tone: "hold",
    title: texts.lapsed(gpus, unit),
    text: texts.lapsedText,
    action: (
      <>
        <Leave queue={queue}>{texts.hide}</Leave>
        <Button size="xs" variant="default" loading={queue.busy} onClick={() => queue.wait(gpus)}>
          {texts.again}
        </Button>
      </>
    ),
  };
}

function Leave({ queue, children }: { readonly queue: Queue; readonly children: string }) {
  return (
    <Button size="xs" variant="subtle" loading={queue.busy} onClick={queue.leave}>
      {children}
    </Button>
  );
}
