// Fails on a regular expression of the product whose time grows faster than its text (G326): whoever sends such a text stops the server. Judged
// are literals, against texts that repeat one letter; those that are put together at run time are made of settings.
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { analyse } from "scslre";

interface Literal {
  readonly start: number;
  readonly regex: { readonly pattern: string; readonly flags: string };
}

const root = resolve(process.argv[2] ?? fileURLToPath(new URL("../..", import.meta.url)));
/** What runs at a server or in a browser; not what builds or tests it. */
const searched = ["contract/src/**/*.ts", "server/src/**/*.{ts,js}", "web/src/**/*.{ts,tsx}"];
const tests = /\.(test|suite|spec)\.tsx?$|(^|\/)testing\//;

const faults = globSync(searched, { cwd: root })
  .filter((file) => !tests.test(file))
  .flatMap(faultsIn);
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

function faultsIn(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return literalsIn(parseSync(file, text).program).flatMap(({ start, regex: { pattern, flags } }) => {
    const [report] = analyse({ source: pattern, flags }).reports;
    if (!report) return [];
    const line = text.slice(0, start).split("\n").length;
    const again = report.character.literal.source;
    return [`${file}:${line}: /${pattern}/${flags} takes ever longer for a text that repeats ${again}`];
  });
}

/** The regular expressions in a part of a syntax tree. */
function literalsIn(part: unknown): readonly Literal[] {
  if (typeof part !== "object" || part === null) return [];
  return isLiteral(part) ? [part] : Object.values(part).flatMap(literalsIn);
}

function isLiteral(part: object): part is Literal {
  return "type" in part && part.type === "Literal" && "regex" in part;
}
