import { type Capacity, type ProductConfig, subdomainProblem } from "@berth/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { countChoices, typeChoices } from "./draft/choices.ts";
import type { Draft, Step } from "./draft/draft.ts";
import { minimumOptions } from "./draft/price-lines.ts";
import { nameQuery } from "./steps/use-name-check.ts";

interface Parts {
  readonly draft: Draft;
  readonly step: Step;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  readonly goTo: (step: Step) => void;
  readonly start: () => void;
}

export interface Continue {
  readonly go: () => Promise<void>;
  /** The step's choice cannot be had now; the step itself says why. */
  readonly blocked: boolean;
  /** Of the subdomain; typing clears it (spec 5.4). */
  readonly error: string | undefined;
  readonly changed: (change: (part: Partial<Draft>) => void) => (part: Partial<Draft>) => void;
}

/** What Continue and Launch do in each step, and what keeps them from it. */
export function useContinue({ draft, step, config, capacity, goTo, start }: Parts): Continue {
  const client = useQueryClient();
  const [error, setError] = useState<string>();
  const [checking, setChecking] = useState(false);
  const blocked = isBlocked({ draft, step, config, capacity });

  const isNameFree = async (): Promise<boolean> => {
    const problem = subdomainProblem(draft.subdomain.trim());
    if (problem !== undefined) {
      setError(problem);
      return false;
    }
    setChecking(true);
    try {
      return (await client.fetchQuery(nameQuery(draft.subdomain.trim()))).available;
    } catch {
      // Nobody answered: the order asks again, so nothing is lost by going on.
      return true;
    } finally {
      setChecking(false);
    }
  };

  const go = async () => {
    if (blocked || checking) return;
    if (step < 3) return goTo((step + 1) as Step);
    if (step === 3) return (await isNameFree()) ? goTo(4) : undefined;
    // Checked once more at launch (spec 5.4).
    const problem = subdomainProblem(draft.subdomain.trim());
    if (problem === undefined) return start();
    setError(problem);
    goTo(3);
  };

  return {
    go,
    blocked,
    error,
    changed: (change) => (part) => {
      if (part.subdomain !== undefined) setError(undefined);
      change(part);
    },
  };
}

function isBlocked({ draft, step, config, capacity }: Pick<Parts, "draft" | "step" | "config" | "capacity">): boolean {
  if (step === 1) return typeChoices(capacity).some(({ type, available }) => type === draft.type && !available);
  if (step === 2) return countChoices(capacity, 0).some(({ gpus, free }) => gpus === draft.gpus && !free);
  if (config === undefined) return step === 4;
  return minimumOptions(draft, config.payments.minimumMinor, config.payments.currencies) !== undefined;
}
