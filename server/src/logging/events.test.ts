import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const calls = [/\.(?:info|warn|error|fatal)\(\s*\{\s*event: "([\w.]+)"/g, /logError\([^"()]*, "([\w.]+)"/g];

test("docs/operate/logs.md lists exactly the events of the log", () => {
  const used = new Set(["disk.ok", "disk.low", "disk.full", "database.unreachable"]);
  for (const path of globSync("server/src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] })) {
    const text = readFileSync(`${root}${path}`, "utf8");
    for (const call of calls) for (const [, event = ""] of text.matchAll(call)) used.add(event);
  }
  const table = readFileSync(`${root}docs/operate/logs.md`, "utf8").split("| Event | Level |")[1] ?? "";
  const rows = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, names = ""]) => [...names.matchAll(/`([\w.]+)`/g)]);
  expect(rows.map(([, name]) => name).toSorted()).toEqual([...used].toSorted());
});
