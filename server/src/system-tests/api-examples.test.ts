import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { safeParse } from "zod/mini";
import { allEndpoints } from "../http/api-document.ts";
import { type Called, callEverything } from "./testing/example-calls.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const path = `${root}docs/develop/api-examples.json`;
const nameOf = ({ method, path: of }: { method: string; path: string }) => `${method} ${of}`;

test("every endpoint has an example that works, and a documented reply of the schema's shape", async () => {
  const { called } = await callEverything();
  const endpoints = allEndpoints();
  expect(called.map(({ endpoint }) => nameOf(endpoint)).toSorted()).toEqual(endpoints.map(nameOf).toSorted());
  if (process.env["UPDATE_EXAMPLES"]) write(called);
  const documented = JSON.parse(readFileSync(path, "utf8"));
  for (const { endpoint, body, reply } of called) {
    const name = nameOf(endpoint);
    const hint = `${name}: UPDATE_EXAMPLES=1 npx vitest run server/src/system-tests/api-examples.test.ts`;
    const example = documented[name];
    expect(example, hint).toBeDefined();
    expect(safeParse(endpoint.body, example.body ?? {}).success, hint).toBe(true);
    expect(example.body === undefined, hint).toBe(body === undefined);
    if (reply === undefined) continue;
    expect(safeParse(endpoint.reply, example.reply).error?.issues ?? [], hint).toEqual([]);
    expect(Object.keys(example.reply).toSorted(), hint).toEqual(Object.keys(reply).toSorted());
  }
});

function write(called: readonly Called[]): void {
  const examples = Object.fromEntries(
    called.map(({ endpoint, url, body, reply }) => [nameOf(endpoint), shortened({ url, body, reply })]),
  );
  const input = JSON.stringify(examples);
  const biome = `${root}node_modules/.bin/biome`;
  writeFileSync(
    path,
    execFileSync(biome, ["format", `--stdin-file-path=${path}`], { input, encoding: "utf8", cwd: root }),
  );
}

/** For a reader: one entry of each list, the beginning of long secrets, and one time for all. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
  if (typeof value !== "string") return value;
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return "2026-11-23T10:00:00.000Z";
  return value.length > 64 && !value.includes(" ") ? `${value.slice(0, 24)}...` : value;
}
