import { ArrowDown, ArrowUp } from "lucide-react";
import { columns, nextSort, type Sort, sortedBy } from "./list-view.ts";

interface Props {
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
}

const labels = { name: "Name", type: "Type", status: "Status", created: "Created", expires: "Expires" } as const;

/** A sortable column head; the arrow shows the direction. */
export function SortHead({ sort, onSort }: Props) {
  return (
    <thead>
      <tr>
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
