import type { Status } from "@berth/contract";

/** The list's filters, sort and search, from the URL (CONTRIBUTING 10, G30). */
export interface ListView {
  readonly search: string;
  readonly status: StatusFilter;
  readonly sort: Sort;
  /** An environment's id, the target of Manage (G57). */
  readonly environment: string | null;
}

export type StatusFilter = "all" | Exclude<Status, "unknown">;

/** In the order of spec 2.8. */
export const statusFilters: readonly { readonly value: StatusFilter; readonly label: string }[] = [
  { value: "all", label: "All" },
  { value: "active", label: "Active" },
  { value: "stopped", label: "Stopped" },
  { value: "paused", label: "Paused" },
  { value: "terminated", label: "Terminated" },
  { value: "pending", label: "Pending" },
];

export const columns = ["name", "type", "status", "created", "expires"] as const;
export type Column = (typeof columns)[number];
export type Sort = `${Column}-${"asc" | "desc"}`;

/** The options of spec 2.8. Column heads offer more, which show as Custom (G58). */
export const namedSorts: readonly { readonly value: Sort; readonly label: string }[] = [
  { value: "created-desc", label: "Newest First" },
  { value: "created-asc", label: "Oldest First" },
  { value: "name-asc", label: "Name A-Z" },
  { value: "name-desc", label: "Name Z-A" },
  { value: "status-asc", label: "Status A-Z" },
  { value: "type-asc", label: "Type A-Z" },
  { value: "expires-asc", label: "Expires Soon" },
];

export const firstView: ListView = { search: "", status: "all", sort: "created-desc", environment: null };

/** Invalid values in the URL fall back to the defaults. */
export function readView(params: URLSearchParams): ListView {
  const status = params.get("status");
  const sort = params.get("sort");
  return {
    search: params.get("search") ?? "",
    status: statusFilters.find(({ value }) => value === status)?.value ?? "all",
    sort: isSort(sort) ? sort : firstView.sort,
    environment: params.get("environment") || null,
  };
}

export function writeView(view: ListView): URLSearchParams {
  const params = new URLSearchParams();
  if (view.search !== "") params.set("search", view.search);
  if (view.status !== "all") params.set("status", view.status);
  if (view.sort !== firstView.sort) params.set("sort", view.sort);
  if (view.environment) params.set("environment", view.environment);
  return params;
}

/** A column head sorts by its column, then reverses it. Dates start with the newest. */
export function nextSort(sort: Sort, column: Column): Sort {
  const [current, direction] = split(sort);
  if (current === column) return `${column}-${direction === "asc" ? "desc" : "asc"}`;
  return column === "created" ? "created-desc" : `${column}-asc`;
}

export function sortedBy(sort: Sort, column: Column): "ascending" | "descending" | undefined {
  const [current, direction] = split(sort);
  if (current !== column) return undefined;
  return direction === "asc" ? "ascending" : "descending";
}

export interface FilterTag {
  readonly label: string;
  /** The view without this filter. */
  readonly without: ListView;
}

export function tagsOf(view: ListView, environmentName: string | undefined): readonly FilterTag[] {
  const tags: FilterTag[] = [];
  if (view.status !== "all") {
    const label = statusFilters.find(({ value }) => value === view.status)?.label;
    tags.push({ label: `Status: ${label}`, without: { ...view, status: "all" } });
  }
  if (view.search.trim() !== "")
    tags.push({ label: `Search: ${view.search.trim()}`, without: { ...view, search: "" } });
  if (view.environment)
    tags.push({
      label: `Environment: ${environmentName ?? view.environment.slice(0, 8)}`,
      without: { ...view, environment: null },
    });
  return tags;
}

function isSort(text: string | null): text is Sort {
  return columns.some((column) => text === `${column}-asc` || text === `${column}-desc`);
}

export function split(sort: Sort): readonly [Column, "asc" | "desc"] {
  const [column, direction] = sort.split("-") as [Column, "asc" | "desc"];
  return [column, direction];
}
