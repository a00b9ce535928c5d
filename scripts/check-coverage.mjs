// Fails when docs/spec-coverage.md has a hole: a G-number or a message of section 8 without a row, a row without proof,
// a proof that is not there, or a case of money (C1 ...) that no test's title begins with. A proof reads
// `path/to/file.test.ts` › "title of the test".
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)));
const page = join(root, "docs/spec-coverage.md");
const holes = [];
const files = new Map();

const sections = sectionsOf(readFileSync(page, "utf8"));
const [first, last] = rangeOf("Decisions", "G");
const [firstCase, lastCase] = rangeOf("Cases of money", "C");
const decisions = rowsOf("Decisions");
const messages = rowsOf("Messages of section 8");

for (let number = first; number <= last; number++)
  if (!decisions.some(([name]) => name === `G${number}`)) holes.push(`G${number} has no row`);
for (const message of listed(sections.get("Messages of section 8")))
  if (!messages.some(([text]) => text === message)) holes.push(`the message ${message} has no row`);
for (const [name] of sections) for (const row of rowsOf(name)) judge(name, row);
const cases = casesIn(["contract", "e2e", "server", "web"]);
for (let number = firstCase; number <= lastCase; number++)
  if (!cases.has(number)) holes.push(`no test's title begins with C${number}`);
// A message must stand in a test that is named for it, word for word up to its placeholders.
for (const [text, , proof] of messages) if (!isSaid(text, proof ?? "")) holes.push(`${text} stands in no named test`);

for (const hole of holes) console.error(`docs/spec-coverage.md: ${hole}`);
process.exit(holes.length > 0 ? 1 : 0);

/** The text under each `##`, by its heading. */
function sectionsOf(text) {
  const parts = text.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("\n")).trim(), part]));
}

/** "G1 to G104", said in the section itself. */
function rangeOf(section, letter) {
  const found = new RegExp(`\\b${letter}(\\d+) to ${letter}(\\d+)\\b`).exec(sections.get(section) ?? "");
  if (!found) holes.push(`the section ${section} does not say which ${letter}-numbers there are`);
  return found ? [Number(found[1]), Number(found[2])] : [1, 0];
}

/** The numbers that titles of tests begin with, also of a table of tests. */
function casesIn(folders) {
  const paths = globSync(
    folders.map((folder) => `${folder}/**/*.{test,spec,suite}.{ts,tsx}`),
    { cwd: root },
  );
  const titles = paths.flatMap((path) => [...(read(path) ?? "").matchAll(/\(\s*["'`]C(\d+)\b/g)]);
  return new Set(titles.map(([, number]) => Number(number)));
}

/** The cells of each row of the section's tables, without heads. */
function rowsOf(name) {
  const lines = (sections.get(name) ?? "").split("\n").filter((line) => line.startsWith("|"));
  return lines
    .filter((line, index) => !/^\|[\s|:-]+\|$/.test(line) && !/^\|[\s|:-]+\|$/.test(lines[index + 1] ?? ""))
    .map((line) => cellsOf(line));
}

/** A bar inside a cell is written `\|`. */
function cellsOf(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The list that the section's table answers: one message on each line of its block. */
function listed(text = "") {
  return (/```text\n([\s\S]*?)```/.exec(text)?.[1] ?? "").split("\n").filter((line) => line !== "");
}

function judge(section, row) {
  const proof = row.at(-1) ?? "";
  const named = proofsIn(proof);
  if (named.length === 0 && !/^(Later|Not here): \S/.test(proof)) holes.push(`${section}: ${row[0]} has no proof`);
  for (const { path, title } of named) {
    const text = read(path);
    if (text === undefined) holes.push(`${section}: ${row[0]} names ${path}, which is not there`);
    else if (!text.includes(title)) holes.push(`${section}: ${row[0]} names "${title}", which ${path} does not have`);
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

function isSaid(message, proof) {
  const parts = message.split(/\{\w+\}/).map((part) => part.trim());
  return proofsIn(proof).some(({ path }) => parts.every((part) => (read(path) ?? "").includes(part)));
}
