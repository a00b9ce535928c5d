import { expect, test } from "vitest";
import { type Environment, environmentsOf } from "../lifecycle/environment.ts";
import { countByStatus, filterEnvironments, sortEnvironments } from "./filter-environments.ts";
import { firstView, type ListView } from "./list-view.ts";

const base = {
  type: "jupyter",
  gpu_count: 1,
  duration_hours: 6,
  expires_at: null,
  banked_seconds: 0,
  stage: null,
  stage_percent: null,
  waits_for: null,
  ended_reason: null,
  files_until: null,
  can_pause: true,
  moving_percent: null,
} as const;

function setup() {
  return environmentsOf({
    _meta: { ...base, status: "active", subdomain: "hidden", created_at: "2026-11-01T00:00:00Z" },
    "9f3c1ab27d40": { ...base, status: "pending", subdomain: "whisper", created_at: "2026-11-20T14:00:00Z" },
    "41d07be5a9c2": {
      ...base,
      status: "active",
      type: "pytorch",
      subdomain: "resnet-10",
      created_at: "2026-11-20T11:00:00Z",
      expires_at: "2026-11-20T17:00:00Z",
    },
    c85e2f0d6b11: {
      ...base,
      status: "active",
      type: "pytorch",
      subdomain: "resnet-9",
      created_at: "2026-11-18T09:00:00Z",
      expires_at: "2026-11-19T00:00:00Z",
    },
    e2a6108f97d3: {
      ...base,
      status: "stopped",
      subdomain: "kaggle",
      created_at: "2026-11-16T08:00:00Z",
      banked_seconds: 60,
    },
    "5c4fb8e13a70": {
      ...base,
      status: "terminated",
      type: "tensorflow",
      subdomain: "old",
      created_at: "2026-11-09T19:00:00Z",
      expires_at: "2026-11-10T00:00:00Z",
    },
  });
}

const listingOf = (environments: readonly Environment[], view: ListView) =>
  filterEnvironments(sortEnvironments(environments, view.sort), view);
const names = (view: object) => listingOf(setup(), { ...firstView, ...view }).map(({ name }) => name);

test("keys with an underscore are not environments, and the newest comes first", () => {
  expect(names({})).toEqual(["whisper", "resnet-10", "resnet-9", "kaggle", "old"]);
});

test("search matches name, type, status, subdomain and id, ignoring case", () => {
  expect(names({ search: "RESNET" })).toEqual(["resnet-10", "resnet-9"]);
  expect(names({ search: "tensor" })).toEqual(["old"]);
  expect(names({ search: "stopped" })).toEqual(["kaggle"]);
  expect(names({ search: "  9f3c1ab2 " })).toEqual(["whisper"]);
  expect(names({ search: "e13a70" })).toEqual(["old"]);
  expect(names({ search: "running" })).toEqual(["resnet-10", "resnet-9"]);
  expect(names({ search: "hidden" })).toEqual([]);
});

test("status, search and a single environment combine", () => {
  expect(names({ status: "active", search: "9" })).toEqual(["resnet-10", "resnet-9"]);
  expect(names({ environment: "e2a6108f97d3" })).toEqual(["kaggle"]);
  expect(names({ environment: "e2a6108f97d3", status: "active" })).toEqual([]);
});

test("counts include all environments", () => {
  expect(countByStatus(setup())).toEqual({ all: 5, active: 2, pending: 1, paused: 0, stopped: 1, terminated: 1 });
});

test("every named sort, and the columns reversed", () => {
  expect(names({ sort: "created-asc" })).toEqual(["old", "kaggle", "resnet-9", "resnet-10", "whisper"]);
  expect(names({ sort: "name-asc" })).toEqual(["kaggle", "old", "resnet-9", "resnet-10", "whisper"]);
  expect(names({ sort: "name-desc" })).toEqual(["whisper", "resnet-10", "resnet-9", "old", "kaggle"]);
  expect(names({ sort: "status-asc" })).toEqual(["resnet-10", "resnet-9", "whisper", "kaggle", "old"]);
  expect(names({ sort: "type-asc" })).toEqual(["whisper", "kaggle", "resnet-10", "resnet-9", "old"]);
  expect(names({ sort: "type-desc" })).toEqual(["old", "resnet-10", "resnet-9", "whisper", "kaggle"]);
});

test("Expires Soon puts N/A and terminated last, both ways", () => {
  expect(names({ sort: "expires-asc" })).toEqual(["resnet-9", "resnet-10", "whisper", "kaggle", "old"]);
  expect(names({ sort: "expires-desc" })).toEqual(["resnet-10", "resnet-9", "whisper", "kaggle", "old"]);
});

test("a row with an unreadable date stays in the list", () => {
  const [one] = setup();
  if (!one) throw new Error("no row");
  expect(listingOf([{ ...one, created_at: "soon" }], firstView)).toHaveLength(1);
});
