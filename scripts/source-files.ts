import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of every .ts and .tsx file of the project, by its path from `root`. */
export function sourceFiles(root: string): ReadonlyMap<string, string> {
  const exclude = ["**/node_modules/**", "**/dist/**", "**/dist-console/**", "data/**", "test-results/**", "**/*.d.ts"];
  const paths = globSync("**/*.{ts,tsx}", { cwd: root, exclude }).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** Tests, and code that only tests use. */
export function isTestCode(path: string): boolean {
  return /\.(test|suite|spec)\.tsx?$|(^|\/)testing\/|\/system-tests\/|testing(-setup)?\.ts$/.test(path);
}
