import { type Capacity, type ProductConfig, subdomainProblem } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { countChoices, typeChoices } from "./draft/choices.ts";
import type { Draft, Step } from "./draft/draft.ts";
import { minimumOptions } from "./draft/price-lines.ts";
import { nameQuery } from "./steps/use-name-check.ts";

interface Options {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly step: Step;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  readonly goTo: (step: Step) => void;
  readonly start: () => void;
  /** A code covers it: there is no smallest charge. */
  readonly isCovered: boolean;
}

/** The action of Continue and Launch in each step, and its validation. */
export function useContinue({ draft, change, step, config, capacity, goTo, start, isCovered }: Options) {
  const client = useQueryClient();
  const [error, setError] = useState<string>();
  const name = draft.subdomain.trim();
  const { mutate: checkName, isPending } = useMutation({ mutationFn: () => client.fetchQuery(nameQuery(name)) });
  const blocked = isBlocked({ draft, step, config, capacity, isCovered });
  const go = () => {
    if (blocked || isPending) return;
    if (step < 3) return goTo((step + 1) as Step);
    // Checked once more at launch (spec 5.4).
    const problem = subdomainProblem(name);
    if (problem !== undefined) {
      setError(problem);
      return goTo(3);
    }
    if (step === 4) return start();
    // Continues without a reply, because the order checks the name again.
    checkName(undefined, { onSettled: (reply) => reply?.available !== false && goTo(4) });
  };
  return {
    go,
    /** The step's choice is unavailable; the step shows why. */
    blocked,
    /** The subdomain's error; typing clears it (spec 5.4). */
    error,
    change: (part: Partial<Draft>) => {
      if (part.subdomain !== undefined) setError(undefined);
      change(part);
    },
  };
}

function isBlocked({
  draft,
  step,
  config,
  capacity,
  isCovered,
}: Pick<Options, "draft" | "step" | "config" | "capacity" | "isCovered">): boolean {
  if (step === 1) return typeChoices(capacity).some(({ type, available }) => type === draft.type && !available);
  if (step === 2) return countChoices(capacity, 0).some(({ gpus, free }) => gpus === draft.gpus && !free);
  if (config === undefined) return step === 4;
  return !isCovered && minimumOptions(draft, config.payments.minimumMinor, config.payments.currencies) !== undefined;
}
