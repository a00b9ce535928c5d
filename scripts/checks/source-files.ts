import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

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

/** What each file imports of them, type-only imports included. */
export function importsOf(files: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  return new Map([...files].map(([path, text]) => [path, targetsOf(path, text).filter((target) => files.has(target))]));
}

function targetsOf(path: string, text: string): string[] {
  const names = text.matchAll(/(?:\bfrom|^import|\bimport\()\s*"([^"]+)"/gm);
  return [...names].map(([, name = ""]) => (name.startsWith(".") ? posix.join(dirname(path), name) : ofContract(name)));
}

/** `@berth/contract/console/now` is a file of its own. */
function ofContract(name: string): string {
  return name === "@berth/contract"
    ? "contract/src/index.ts"
    : name.replace(/^@berth\/contract\/(.+)$/, "contract/src/$1.ts");
}
