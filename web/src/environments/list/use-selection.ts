import { useCallback, useState } from "react";
import { canStop, type Environment } from "../lifecycle/environment.ts";

export interface Selection {
  /** The selected ones that the list shows and that can be stopped. */
  readonly chosen: readonly Environment[];
  /** All that could be selected. */
  readonly possible: number;
  readonly has: (id: string) => boolean;
  readonly select: (id: string, selected: boolean) => void;
  readonly selectAll: (selected: boolean) => void;
}

/** What the owner selected in the list. A row that is hidden, or cannot be stopped any more, does not count. */
export function useSelection(shown: readonly Environment[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback(
    (id: string, selected: boolean) =>
      setIds((before) => new Set(selected ? [...before, id] : [...before].filter((each) => each !== id))),
    [],
  );
  const possible = shown.filter(canStop);
  const chosen = possible.filter(({ id }) => ids.has(id));
  const chosenIds = new Set(chosen.map(({ id }) => id));
  return {
    chosen,
    possible: possible.length,
    has: (id) => chosenIds.has(id),
    select,
    selectAll: (selected) => setIds(new Set(selected ? possible.map(({ id }) => id) : [])),
  };
}
