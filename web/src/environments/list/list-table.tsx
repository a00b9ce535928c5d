import { startTransition, useEffect, useState } from "react";
import { useUnit } from "../../api/use-unit.ts";
import type { Actions } from "../actions/use-actions.ts";
import type { Environment } from "../lifecycle/environment.ts";
import classes from "./list-table.module.css";
import type { Sort } from "./list-view.ts";
import { RowCells } from "./row-cells.tsx";
import { SortHead } from "./sort-head.tsx";
import type { Selection } from "./use-selection.ts";

/** Rows of the first render, more than a tall screen shows. */
const firstRows = 24;

interface Props {
  /** All of them, sorted. */
  readonly environments: readonly Environment[];
  /** The filtered ones, in the same order. */
  readonly shown: readonly Environment[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly selection: Selection;
  readonly actions: Actions;
  readonly onTerminate: (environment: Environment) => void;
  readonly onOpen: (path: string) => void;
}

/**
 * Rows are created once, then only hidden or moved, because creating two hundred would delay every key stroke. The style
 * sheet skips layout and paint of off-screen rows.
 */
export function ListTable({ environments, shown, sort, onSort, selection, actions, onTerminate, onOpen }: Props) {
  const [complete, setComplete] = useState(false);
  useEffect(() => startTransition(() => setComplete(true)), []);
  const unit = useUnit();
  const visible = new Set(shown);
  return (
    <table className={classes.table} hidden={shown.length === 0}>
      <SortHead sort={sort} onSort={onSort} selection={selection} />
      <tbody>
        {(complete ? environments : shown.slice(0, firstRows)).map((environment) => (
          <tr
            key={environment.id}
            hidden={!visible.has(environment)}
            data-status={environment.status}
            data-selected={selection.has(environment.id) || undefined}
            aria-busy={actions.busy.has(environment.id) || undefined}
          >
            <RowCells
              environment={environment}
              unit={unit}
              busy={actions.busy.get(environment.id)}
              selected={selection.has(environment.id)}
              onAction={actions.run}
              onTerminate={onTerminate}
              onSelect={selection.select}
              onOpen={onOpen}
            />
          </tr>
        ))}
      </tbody>
    </table>
  );
}
