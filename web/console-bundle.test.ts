import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const entries = ["web/src/main.tsx", "web/src/render.tsx", "web/src/public-page.ts"];

/** Every file that a browser gets from an entry, by static and dynamic imports. */
function filesFrom(entry: string, found = new Set<string>()): Set<string> {
  const path = resolve(root, entry);
  if (found.has(path) || !existsSync(path)) return found;
  found.add(path);
  for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/(?:\bfrom|^import|\bimport\()\s*"([^"]+)"/gm)) {
    if (name.startsWith(".")) filesFrom(join(dirname(path), name), found);
    if (name === "@berth/contract") filesFrom("contract/src/index.ts", found);
    if (name.startsWith("@berth/contract/")) filesFrom(`${name.replace("@berth/contract", "contract/src")}.ts`, found);
  }
  return found;
}

const namesFrom = (entry: string) => [...filesFrom(entry)].map((path) => relative(root, path).replaceAll("\\", "/"));

test("G143 the tenants' app has no code of the operator's console, and no call of it", () => {
  const files = entries.flatMap(namesFrom);
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((path) => path.includes("/console/"))).toEqual([]);
  expect(namesFrom("web/src/console/main.tsx")).toContain("contract/src/console/session.ts");
});

test("G143 nor has its build", () => {
  const built = globSync("web/dist/**/*.{js,html}", { cwd: root });
  expect(built.filter((file) => readFileSync(join(root, file), "utf8").includes("/operator/api"))).toEqual([]);
});
