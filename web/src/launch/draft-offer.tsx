import { durationLabel, plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { useUnit } from "../api/use-unit.ts";
import { typeName } from "../content/environment-types.ts";
import { Notice } from "../ui/display/notice.tsx";
import type { LeftDraft } from "./draft/draft.ts";
import classes from "./launch-page.module.css";

interface Props {
  readonly left: LeftDraft;
  readonly onResume: () => void;
  readonly onDrop: () => void;
}

/** Offers an earlier draft (G56); the defaults apply until it is accepted. */
export function DraftOffer({ left: { draft }, onResume, onDrop }: Props) {
  const parts = [
    typeName(draft.type),
    plural(draft.gpus, useUnit().one),
    durationLabel(draft.hours),
    draft.subdomain,
  ].filter(Boolean);
  return (
    <div className={classes.offer}>
      <Notice
        title="Your draft is kept"
        action={
          <div className={classes.offerButtons}>
            <Button size="xs" variant="subtle" onClick={onDrop}>
              Start over
            </Button>
            <Button size="xs" variant="default" onClick={onResume}>
              Go on with it
            </Button>
          </div>
        }
      >
        {parts.join(", ")}
      </Notice>
    </div>
  );
}
