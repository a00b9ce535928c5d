// Fails on a file above 300 lines and on a folder with more than 30 files (CONTRIBUTING 3), tests included.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const mostLines = 300;
const mostFiles = 30;
const root = resolve(process.argv[2] ?? join(import.meta.dirname, "../.."));
const outside = [
  "node_modules",
  "dist",
  "dist-console",
  "data",
  "test-results",
  "shared",
  ".git",
  ".tsc",
  "__pycache__",
  "playwright-report",
];
const written = /\.(ts|tsx|mts|mjs|js|css|py|sh|html|ya?ml|tpl)$/;
/** Written by programs, or a history that only grows. */
const generated = /^server\/src\/database\/(tables\.ts|migrations\/)/;
/** How many files these have until they are split: the number may only fall. */
const stillLarger: Readonly<Record<string, number>> = {
  "server/src/http": 39,
  "server/src/identity/local": 41,
  "server/src/operator/backup": 36,
  "server/src/operator/console": 38,
};

const paths = globSync("**/*", { cwd: root, withFileTypes: true, exclude: ({ name }) => outside.includes(name) })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  .filter((path) => !generated.test(path));
const faults: string[] = [];

for (const path of paths.filter((each) => written.test(each)).sort()) {
  const lines = readFileSync(join(root, path), "utf8").split("\n").length - 1;
  if (lines > mostLines)
    faults.push(`${path} has ${lines} lines, at most ${mostLines}: split it where its subject changes`);
}
for (const [folder, { length }] of Map.groupBy(paths, (path) => dirname(path))) {
  const most = stillLarger[folder] ?? mostFiles;
  if (length > most)
    faults.push(`${folder} has ${length} files, at most ${most}: move those of one subject to a folder`);
}

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
