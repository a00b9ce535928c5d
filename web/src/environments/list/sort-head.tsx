import { ArrowDown, ArrowUp } from "lucide-react";
import classes from "./list-table.module.css";
import { columns, nextSort, type Sort, sortedBy } from "./list-view.ts";
import type { Selection } from "./use-selection.ts";

interface Props {
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly selection: Selection;
}

const labels = { name: "Name", type: "Type", status: "Status", created: "Created", expires: "Expires" } as const;

/** A sortable column head; the arrow shows the direction. */
export function SortHead({ sort, onSort, selection }: Props) {
  return (
    <thead>
      <tr>
        <td className={classes.pick}>
          <SelectAll selection={selection} />
        </td>
        {columns.map((column) => {
          const sorted = sortedBy(sort, column);
          return (
            <th key={column} scope="col" aria-sort={sorted}>
              <button type="button" onClick={() => onSort(nextSort(sort, column))}>
                {labels[column]}
                {sorted === "descending" && <ArrowDown size={12} aria-hidden="true" />}
                {sorted === "ascending" && <ArrowUp size={12} aria-hidden="true" />}
              </button>
            </th>
          );
        })}
        <th scope="col">
          <span>Actions</span>
        </th>
      </tr>
    </thead>
  );
}

function SelectAll({ selection: { chosen, possible, selectAll } }: Pick<Props, "selection">) {
  if (possible === 0) return null;
  return (
    <label>
      <input
        ref={(box) => {
          if (box) box.indeterminate = chosen.length > 0 && chosen.length < possible;
        }}
        type="checkbox"
        aria-label="Select all that can be stopped"
        checked={chosen.length === possible}
        onChange={(event) => selectAll(event.currentTarget.checked)}
      />
    </label>
  );
}
