import { expect, test } from "vitest";
import {
  firstView,
  type ListView,
  nextSort,
  readView,
  sortedBy,
  statusFilters,
  tagsOf,
  writeView,
} from "./list-view.ts";

test("the default view leaves the URL empty", () => {
  expect(writeView(firstView).toString()).toBe("");
  expect(readView(new URLSearchParams(""))).toEqual(firstView);
});

test("a view survives the URL", () => {
  const view: ListView = { search: "a b&c", status: "paused", sort: "type-desc", environment: "41d07be5a9c2" };
  expect(readView(new URLSearchParams(writeView(view).toString()))).toEqual(view);
});

test("an invalid URL gives the default view", () => {
  expect(readView(new URLSearchParams("status=unknown&sort=price-up&environment="))).toEqual(firstView);
});

test("a column head sorts by its column, then reverses", () => {
  expect(nextSort("created-desc", "name")).toBe("name-asc");
  expect(nextSort("name-asc", "name")).toBe("name-desc");
  expect(nextSort("name-asc", "created")).toBe("created-desc");
  expect(nextSort("created-desc", "created")).toBe("created-asc");
  expect(sortedBy("created-desc", "created")).toBe("descending");
  expect(sortedBy("created-desc", "name")).toBeUndefined();
});

test("each tag removes only its own filter", () => {
  const view: ListView = { ...firstView, search: "x", status: "active", environment: "41d07be5a9c2" };
  expect(tagsOf(view, "resnet").map(({ label }) => label)).toEqual([
    "Status: Active",
    "Search: x",
    "Environment: resnet",
  ]);
  expect(tagsOf(view, undefined)[2]?.label).toBe("Environment: 41d07be5");
  expect(tagsOf(view, "resnet")[0]?.without).toEqual({ ...view, status: "all" });
  expect(tagsOf(firstView, undefined)).toEqual([]);
});

test("status filters are in the order of spec 2.8", () => {
  expect(statusFilters.map(({ value }) => value)).toEqual([
    "all",
    "active",
    "stopped",
    "paused",
    "terminated",
    "pending",
  ]);
});
