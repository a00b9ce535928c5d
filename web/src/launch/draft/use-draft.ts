import { useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { prices } from "../../catalogue.ts";
import {
  type Draft,
  dropDraft,
  keepDraft,
  type LeftDraft,
  readChoices,
  readLeftDraft,
  readLinked,
  type Step,
  startingDraft,
  stepOf,
  tabStorage,
} from "./draft.ts";

export interface CurrentDraft {
  readonly draft: Draft;
  readonly step: Step;
  readonly change: (part: Partial<Draft>) => void;
  readonly goTo: (step: Step) => void;
  /** An earlier draft of this tab, until it is resumed or discarded (G56). */
  readonly left: LeftDraft | undefined;
  readonly resume: () => void;
  readonly drop: () => void;
}

/**
 * Keeps the draft in this tab's storage. The step changes with the address (a button, a link, Back), never with a
 * keystroke (G336). A URL with a step continues the draft.
 */
export function useDraft(): CurrentDraft {
  const [params, setParams] = useSearchParams();
  const [left, setLeft] = useState(() => readLeftDraft(tabStorage));
  // A link with a name restores its kept files (G31).
  const named = params.get("subdomain")?.slice(0, 64);
  // A link with a number of GPUs comes from a reservation (G86) and continues the earlier draft.
  const counted = prices()
    .rows.map(({ gpus }) => gpus)
    .find((count) => String(count) === params.get("gpus"));
  const [draft, setDraft] = useState<Draft>(() => {
    const linked = readLinked(params);
    if (linked) return linked;
    if (counted !== undefined) return { ...(left?.draft ?? startingDraft()), gpus: counted };
    if (named !== undefined) return { ...startingDraft(), subdomain: named };
    return (params.has("step") && (left?.draft ?? readChoices(tabStorage))) || startingDraft();
  });
  const [offered, setOffered] = useState(
    !params.has("step") && left !== undefined && named === undefined && counted === undefined,
  );
  const step = useStep(params, setParams, draft);
  return {
    draft,
    step,
    goTo: (next) => {
      keepDraft(tabStorage, { draft, step: next });
      setParams({ step: String(next) });
    },
    change: (part) => {
      const next = { ...draft, ...part };
      setDraft(next);
      keepDraft(tabStorage, { draft: next, step });
    },
    left: offered ? left : undefined,
    resume: () => {
      if (!left) return;
      setDraft(left.draft);
      setOffered(false);
      keepDraft(tabStorage, left);
      setParams({ step: String(stepOf(String(left.step), left.draft)) });
    },
    drop: () => {
      dropDraft(tabStorage);
      setLeft(undefined);
      setOffered(false);
    },
  };
}

type SetParams = ReturnType<typeof useSearchParams>[1];

/** Read from the address only when it changes; an address that asks for too much is corrected. */
function useStep(params: URLSearchParams, setParams: SetParams, draft: Draft): Step {
  const asked = params.get("step");
  const [shown, setShown] = useState({ asked, step: stepOf(asked, draft) });
  const { step } = asked === shown.asked ? shown : { step: stepOf(asked, draft) };
  if (asked !== shown.asked) setShown({ asked, step });
  const wrong = asked !== null && asked !== String(step);
  useEffect(() => {
    if (wrong) setParams({ ...Object.fromEntries(params), step: String(step) }, { replace: true });
  }, [wrong, step, params, setParams]);
  return step;
}
