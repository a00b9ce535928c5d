// Fails on a retired word of docs/internals/glossary.md in an identifier or a file name, and on a file that is not named
// after its main export.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { isTestCode, sourceFiles } from "./source-files.ts";

const root = resolve(process.argv[2] ?? join(import.meta.dirname, "../.."));
const glossary = "docs/internals/glossary.md";
const product = /^(contract|server|web|images)\/(?!src\/index\.ts)/;
const faults: string[] = [];

const [, section = ""] = readFileSync(join(root, glossary), "utf8").split("## Retired words");
const retired = [...section.matchAll(/`([a-z ]+)`/g)].map(([, word = ""]) => word);
const isRetired = new RegExp(`\\b(${retired.join("|")})\\b`);

for (const [path, text] of sourceFiles(root)) {
  for (const name of new Set([basename(path), ...identifiersIn(text)])) {
    const [word] = isRetired.exec(wordsOf(name)) ?? [];
    if (word) faults.push(`${path}: ${name} uses the retired word "${word}": ${glossary} has its successor`);
  }
  if (product.test(path) && !isTestCode(path) && !isNamedAfterExport(path, text))
    faults.push(`${path} is not named after its main export: rename the file or the export`);
}

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

/** camelCase and kebab-case as words: `lineHeight` is "line height". */
function wordsOf(name: string): string {
  const parted = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return parted.replaceAll(/[-.]/g, " ").toLowerCase();
}

/** Identifiers outside comments and strings. Names with an underscore belong to the wire or to SQL. */
function identifiersIn(text: string): string[] {
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "")
    .replaceAll(/`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, '""')
    .replaceAll(/(?<=[(,=:]\s*)\/(?![/*])(?:\\.|[^/\\\n])+\//g, '""')
    .replaceAll(/>[^<>{}=;()]*</g, "><");
  return code.match(/\b[A-Za-z][A-Za-z0-9]*\b(?!_)/g) ?? [];
}

/** True for an export of the file's name, also without its verb; with two or three exports a shared word suffices; more pass. */
function isNamedAfterExport(path: string, text: string): boolean {
  const exported = /^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
  const names = [...text.matchAll(exported)].map(([, name = ""]) => wordsOf(name));
  const values = text.match(/^export (?:async )?(?:const|let|function|class)/gm) ?? [];
  const file = wordsOf(basename(path).replace(/\.tsx?$/, ""));
  if (names.length === 0 || file === "main") return true;
  const bare = (name: string) => name.replace(/^(start|open|create|read|build|use|make) | (of|for)$/g, "");
  if (names.some((name) => name === file || bare(name) === bare(file))) return true;
  const stems = new Set(file.split(" ").map(stemOf));
  if (values.length > 3) return true;
  return values.length > 1 && names.some((name) => name.split(" ").some((word) => stems.has(stemOf(word))));
}

function stemOf(word: string): string {
  return word.replace(/(ies|es|s|ing|ed|e|y)$/, "");
}
