import { Button, CloseButton, Select } from "@mantine/core";
import type { Environment } from "../lifecycle/environment.ts";
import { countByStatus } from "./filter-environments.ts";
import classes from "./list-toolbar.module.css";
import { type ListView, namedSorts, type Sort, statusFilters, tagsOf } from "./list-view.ts";
import { SearchBox } from "./search-box.tsx";

interface Props {
  readonly environments: readonly Environment[];
  readonly view: ListView;
  readonly onView: (part: Partial<ListView>) => void;
}

interface ToolbarProps extends Props {
  readonly onClear: () => void;
  /** Incremented to clear the text of the box. */
  readonly clears: number;
}

export function ListToolbar({ environments, view, onView, onClear, clears }: ToolbarProps) {
  return (
    <div className={classes.toolbar}>
      <div className={classes.row}>
        <SearchBox key={clears} search={view.search} onSearch={(search) => onView({ search })} />
        <SortSelect sort={view.sort} onSort={(sort) => onView({ sort })} />
      </div>
      <StatusFilters environments={environments} view={view} onView={onView} />
      <Tags environments={environments} view={view} onView={onView} onClear={onClear} />
    </div>
  );
}

/** Sorts that only a column head offers show as Custom (G58). */
function SortSelect({ sort, onSort }: { readonly sort: Sort; readonly onSort: (sort: Sort) => void }) {
  const named = namedSorts.some(({ value }) => value === sort);
  return (
    <Select
      className={classes.sort ?? ""}
      aria-label="Sort"
      data={named ? namedSorts : [...namedSorts, { value: sort, label: "Custom" }]}
      value={sort}
      onChange={(value) => value && onSort(value as Sort)}
      allowDeselect={false}
      withScrollArea={false}
    />
  );
}

function StatusFilters({ environments, view, onView }: Props) {
  const counts = countByStatus(environments);
  return (
    <fieldset className={classes.filters}>
      <legend>Status</legend>
      {statusFilters.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={view.status === value}
          onClick={() => onView({ status: value })}
        >
          {label} <span>{counts[value]}</span>
        </button>
      ))}
    </fieldset>
  );
}

function Tags({ environments, view, onView, onClear }: Props & Pick<ToolbarProps, "onClear">) {
  const tags = tagsOf(view, environments.find(({ id }) => id === view.environment)?.name);
  if (tags.length === 0) return null;
  return (
    <div className={classes.tags}>
      {tags.map(({ label, without }) => (
        <span key={label} className={classes.tag}>
          <span>{label}</span>
          <CloseButton size={24} iconSize={12} aria-label={`Remove ${label}`} onClick={() => onView(without)} />
        </span>
      ))}
      <Button size="xs" variant="subtle" onClick={onClear}>
        Clear All
      </Button>
    </div>
  );
}
