// Fails when docs/spec-coverage.md has a gap: a decision of docs/decisions.md or a message of section 8 without a row, a row without a proof,
// a proof that does not exist, or a case of money (C1 ...) without a test whose title begins with it. A proof is written
// `path/to/file.test.ts` › "title of the test". The findings of docs/proof.md are held by such proofs too (G325), and the
// requirements of docs/security/asvs.md by proofs or by a reason against.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(process.argv[2] ?? fileURLToPath(new URL("../..", import.meta.url)));
const page = "docs/spec-coverage.md";
const standard = "docs/security/asvs.md";
const gaps = [];
const files = new Map();

const sections = sectionsOf(readFileSync(join(root, page), "utf8"));
const findings = sectionsOf(read("docs/proof.md") ?? "").get("findings");
const [firstCase, lastCase] = rangeOf("Cases of money", "C");
const decisions = rowsOf("Decisions");
const messages = rowsOf("Messages of section 8");

for (const [, number] of (read("docs/decisions.md") ?? "").matchAll(/^- \*\*(G\d+)\*\*/gm))
  if (!decisions.some(([name]) => name === number)) gaps.push(`${page}: ${number} has no row`);
for (const message of listed(sections.get("Messages of section 8")))
  if (!messages.some(([text]) => text === message)) gaps.push(`${page}: the message ${message} has no row`);
for (const [name] of sections) for (const row of rowsOf(name)) judge(`${page}: ${name}: ${row[0]}`, row.at(-1));
for (const [finding, held] of rowsIn(findings)) judge(`docs/proof.md: ${finding}`, held);
for (const [name, chapter] of sectionsOf(read(standard) ?? ""))
  for (const [requirement, , shown] of rowsIn(chapter)) judge(`${standard}: ${name}: ${requirement}`, shown);
const cases = casesIn(["contract", "e2e", "server", "web"]);
for (let number = firstCase; number <= lastCase; number++)
  if (!cases.has(number)) gaps.push(`${page}: no test's title begins with C${number}`);
// The named test must contain the message, word for word except for its placeholders.
for (const [text, , proof] of messages)
  if (!isQuoted(text, proof ?? "")) gaps.push(`${page}: ${text} is in no named test`);

for (const gap of gaps) console.error(gap);
process.exit(gaps.length > 0 ? 1 : 0);

/** The text under each `##`, by its heading. */
function sectionsOf(text) {
  const parts = text.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")).trim(), part]));
}

/** The range in the section's text, such as "C1 to C52". */
function rangeOf(section, letter) {
  const found = new RegExp(`\\b${letter}(\\d+) to ${letter}(\\d+)\\b`).exec(sections.get(section) ?? "");
  if (!found) gaps.push(`${page}: the section ${section} does not state the range of its ${letter}-numbers`);
  return found ? [Number(found[1]), Number(found[2])] : [1, 0];
}

/** The C-numbers at the beginning of test titles, including tables of tests. */
function casesIn(folders) {
  const paths = globSync(
    folders.map((folder) => `${folder}/**/*.{test,spec,suite}.{ts,tsx}`),
    { cwd: root },
  );
  const titles = paths.flatMap((path) => [...(read(path) ?? "").matchAll(/\(\s*["'`]C(\d+)\b/g)]);
  return new Set(titles.map(([, number]) => Number(number)));
}

/** The cells of each row of the section's tables, without header rows. */
function rowsOf(name) {
  return rowsIn(sections.get(name));
}

function rowsIn(text = "") {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines
    .filter((line, index) => !/^\|[\s|:-]+\|$/.test(line) && !/^\|[\s|:-]+\|$/.test(lines[index + 1] ?? ""))
    .map((line) => cellsOf(line));
}

/** A `|` inside a cell is written `\|`. */
function cellsOf(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The messages of the section's text block, one per line. */
function listed(text = "") {
  return (/```text\n([\s\S]*?)```/.exec(text)?.[1] ?? "").split("\n").filter((line) => line !== "");
}

function judge(row, proof = "") {
  const named = proofsIn(proof);
  if (named.length === 0 && !/^(Later|Not here|Not held): \S/.test(proof)) gaps.push(`${row} has no proof`);
  for (const { path, title } of named) {
    const text = read(path);
    if (text === undefined) gaps.push(`${row} names ${path}, which does not exist`);
    else if (!text.includes(title)) gaps.push(`${row} names "${title}", which ${path} does not have`);
  }
}

function proofsIn(cell) {
  return [...cell.matchAll(/`([^`]+)` › "([^"]+)"/g)].map(([, path, title]) => ({ path, title }));
}

function read(path) {
  if (!files.has(path)) {
    const full = join(root, path);
    files.set(path, existsSync(full) ? readFileSync(full, "utf8") : undefined);
  }
  return files.get(path);
}

function isQuoted(message, proof) {
  const parts = message.split(/\{\w+\}/).map((part) => part.trim());
  return proofsIn(proof).some(({ path }) => parts.every((part) => (read(path) ?? "").includes(part)));
}
