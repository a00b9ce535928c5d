import { gpuCounts } from "@berth/contract";
import { useState } from "react";
import { useSearchParams } from "react-router";
import {
  type Draft,
  dropDraft,
  firstDraft,
  keepDraft,
  type LeftDraft,
  readLeftDraft,
  type Step,
  stepOf,
  tabStorage,
} from "./draft.ts";

export interface CurrentDraft {
  readonly draft: Draft;
  readonly step: Step;
  readonly change: (part: Partial<Draft>) => void;
  readonly goTo: (step: Step) => void;
  /** A draft left earlier in this tab, until it is taken up or dropped (G56). */
  readonly left: LeftDraft | undefined;
  readonly resume: () => void;
  readonly drop: () => void;
}

/** The draft lives in this tab's storage, its step in the URL. A URL with a step goes on where it stood. */
export function useDraft(): CurrentDraft {
  const [params, setParams] = useSearchParams();
  const [left, setLeft] = useState(() => readLeftDraft(tabStorage));
  // A name in the address is what the link was for: kept files come back with it (G31).
  const named = params.get("subdomain")?.slice(0, 64);
  // And a number of GPUs: a turn has come (G86), for what was being chosen before.
  const counted = gpuCounts.find((count) => String(count) === params.get("gpus"));
  const [draft, setDraft] = useState<Draft>(() => {
    if (counted !== undefined) return { ...(left?.draft ?? firstDraft), gpus: counted };
    if (named !== undefined) return { ...firstDraft, subdomain: named };
    return params.has("step") && left ? left.draft : firstDraft;
  });
  const [offered, setOffered] = useState(
    !params.has("step") && left !== undefined && named === undefined && counted === undefined,
  );
  const step = stepOf(params.get("step"), draft);
  const goTo = (next: Step) => {
    keepDraft(tabStorage, { draft, step: next });
    setParams({ step: String(next) });
  };
  return {
    draft,
    step,
    goTo,
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
