import type { GpuCount, QueuePlace } from "@berth/contract";
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { queueTexts as texts } from "../../content/queue-texts.ts";
import { dateTime } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import type { Tone } from "../../ui/display/status.tsx";
import classes from "./queue-notice.module.css";
import { type Queue, useQueue } from "./use-queue.ts";

/** The place in line where the user comes by; nothing without one. */
export function QueueNotice({ userId }: { readonly userId: string }) {
  return <QueuePosition line={useQueue(userId)} />;
}

/** `here`: the creator shows it where the launch goes on anyway. */
export function QueuePosition({ line, here = false }: { readonly line: Queue; readonly here?: boolean }) {
  if (!line.place) return null;
  const { tone, title, text, action } = partsOf(line.place, line, here);
  return (
    <div role="status">
      <Notice tone={tone} title={title} action={<div className={classes.actions}>{action}</div>}>
        {text}
      </Notice>
    </div>
  );
}

interface Parts {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  readonly action: ReactNode;
}

function partsOf(place: QueuePlace, line: Queue, here: boolean): Parts {
  const { gpu_count: gpus, state, position, expected_at, held_until } = place;
  if (state === "waiting")
    return {
      tone: "wait",
      title: texts.waiting(gpus, position),
      text: `${expected_at ? texts.expected(dateTime(expected_at)) : texts.unknown} ${texts.tells}`,
      action: <Leave line={line}>{texts.leave}</Leave>,
    };
  if (state === "held")
    return {
      tone: "live",
      title: texts.held(gpus, dateTime(held_until)),
      text: texts.heldText,
      action: (
        <>
          <Leave line={line}>{texts.giveUp}</Leave>
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
    title: texts.lapsed(gpus),
    text: texts.lapsedText,
    action: (
      <>
        <Leave line={line}>{texts.hide}</Leave>
        <Button size="xs" variant="default" loading={line.busy} onClick={() => line.wait(gpus as GpuCount)}>
          {texts.again}
        </Button>
      </>
    ),
  };
}

function Leave({ line, children }: { readonly line: Queue; readonly children: string }) {
  return (
    <Button size="xs" variant="subtle" loading={line.busy} onClick={line.leave}>
      {children}
    </Button>
  );
}
