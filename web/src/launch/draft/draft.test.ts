import { expect, test } from "vitest";
import { payPath } from "../../environments/unpaid/pay-path.ts";
import {
  dropDraft,
  firstDraft,
  keepChoices,
  keepCurrency,
  keepDraft,
  linkedExtension,
  readChoices,
  readLeftDraft,
  readLinked,
  requestOf,
  startingDraft,
  stepOf,
} from "./draft.ts";

function setup() {
  const held = new Map<string, string>();
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
    removeItem: (key: string) => void held.delete(key),
    held,
  };
}

test("the defaults are the specification's", () => {
  expect(firstDraft).toEqual({ type: "jupyter", gpus: 2, hours: 1, currency: "USD", subdomain: "" });
});

test("the creator begins with the currency of the last order, where it is still sold (G368)", () => {
  expect(startingDraft()).toEqual(firstDraft);
  keepCurrency("INR");
  expect(startingDraft()).toEqual({ ...firstDraft, currency: "INR" });
  expect(linkedExtension(new URLSearchParams()).currency).toBe("INR");
  for (const code of ["XAU", "USD"]) {
    keepCurrency(code);
    expect(startingDraft()).toEqual(firstDraft);
  }
});

test("an earlier draft is restored with its step", () => {
  const storage = setup();
  const draft = { ...firstDraft, type: "pytorch", gpus: 4, subdomain: "resnet-lab" } as const;
  keepDraft(storage, { draft, step: 3 });
  expect(readLeftDraft(storage)).toEqual({ draft, step: 3 });
  dropDraft(storage);
  expect(readLeftDraft(storage)).toBeUndefined();
});

test("the choices of a launch are kept without its name, and not as a draft", () => {
  const storage = setup();
  keepChoices(storage, { ...firstDraft, gpus: 1, subdomain: "launched" });
  expect(readChoices(storage)).toEqual({ ...firstDraft, gpus: 1 });
  expect(readLeftDraft(storage)).toBeUndefined();
});

test("an unchanged draft is not offered", () => {
  const storage = setup();
  keepDraft(storage, { draft: { ...firstDraft, gpus: 4 }, step: 1 });
  keepDraft(storage, { draft: firstDraft, step: 1 });
  expect(readLeftDraft(storage)).toBeUndefined();
});

test("an invalid draft is ignored", () => {
  const storage = setup();
  const left = { draft: firstDraft, step: 2 };
  for (const bad of [
    "{",
    "null",
    "[]",
    JSON.stringify({ ...left, step: 5 }),
    JSON.stringify({ ...left, draft: { ...firstDraft, gpus: 3 } }),
    JSON.stringify({ ...left, draft: { ...firstDraft, hours: "1" } }),
    JSON.stringify({ ...left, draft: { ...firstDraft, subdomain: 7 } }),
  ]) {
    storage.setItem("launch-draft", bad);
    expect(readLeftDraft(storage)).toBeUndefined();
  }
});

test("a storage error loses only the draft", () => {
  const refused = () => {
    throw new Error("denied");
  };
  expect(readLeftDraft({ getItem: refused })).toBeUndefined();
  keepDraft({ setItem: refused, removeItem: refused }, { draft: firstDraft, step: 2 });
  dropDraft({ removeItem: refused });
});

test("the step comes from the URL, but step 4 needs a name", () => {
  expect(stepOf(null, firstDraft)).toBe(1);
  expect(stepOf("2", firstDraft)).toBe(2);
  expect(stepOf("9", firstDraft)).toBe(1);
  expect(stepOf("4", firstDraft)).toBe(3);
  expect(stepOf("4", { ...firstDraft, subdomain: "lab" })).toBe(4);
});

test("the request has the trimmed name", () => {
  expect(requestOf({ ...firstDraft, subdomain: " lab " }, "u1")).toEqual({
    user_id: "u1",
    container_type: "jupyter",
    subdomain: "lab",
    gpu_count: 2,
    duration: 1,
  });
});

test("the link to an unpaid order brings its choices, to a new environment and to more time (G333)", () => {
  const order = {
    ...{ container_type: "pytorch", subdomain: "resnet-lab", gpu_count: 4, duration_hours: 6 },
    ...{ extends: null, currency: "INR" },
  };
  const link = new URL(payPath(order), "http://localhost");
  const draft = { type: "pytorch", gpus: 4, hours: 6, currency: "INR", subdomain: "resnet-lab" };
  expect([link.pathname, link.searchParams.get("step")]).toEqual(["/environments/create", "4"]);
  expect(readLinked(link.searchParams)).toEqual(draft);
  const more = new URL(payPath({ ...order, extends: "env-1" }), "http://localhost");
  expect([more.pathname, more.searchParams.get("extend")]).toEqual(["/environments/env-1", "env-1"]);
  expect(linkedExtension(more.searchParams)).toEqual({ hours: 6, currency: "INR" });
});

test("a link with choices that are not sold, or with some of them, is no draft", () => {
  const all = { type: "jupyter", gpus: "2", hours: "1", currency: "USD", subdomain: "lab" };
  expect(readLinked(new URLSearchParams(all))).toBeDefined();
  for (const wrong of [{ gpus: "3" }, { hours: "-1" }, { currency: "XXX" }, { type: "<b>" }])
    expect(readLinked(new URLSearchParams({ ...all, ...wrong }))).toBeUndefined();
  expect(readLinked(new URLSearchParams({ gpus: "2" }))).toBeUndefined();
  expect(linkedExtension(new URLSearchParams({ hours: "5", currency: "XXX" }))).toEqual({ hours: 1, currency: "USD" });
});
