// Fails on a citation of something that does not exist: a page, a section of the specification (`spec 4.2`), a decision
// (G12), a case of money (C31), a promise (P4) or a rule (`CONTRIBUTING 4`).
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

interface Citation {
  /** The citation is its first group, or else the whole match. */
  readonly pattern: RegExp;
  readonly exists: (cited: string, file: string) => boolean;
  readonly remedy: string;
}

const root = resolve(process.argv[2] ?? fileURLToPath(new URL("../..", import.meta.url)));
const generated = /(^|\/)(node_modules|dist|dist-console|data|shared|test-results|playwright-report|\.\w+)(\/|$)/;
/** Contain broken citations on purpose. */
const faulty = ["scripts/checks/check-citations.test.ts", "scripts/pages/broken-links.test.ts"];
/** Code that reads docs/ names its pages as they name each other. */
const ofPages = /\.md$|^(web\/docs\/|scripts\/pages\/)/;
/** Names files that existed once. */
const history = "CHANGELOG.md";
const searched = "**/*.{ts,tsx,mjs,js,css,sql,sh,py,yml,html,md}";

const sections = headingsOf("docs/specification.md", /^#{2,3} (\d+(?:\.\d+)?)\.? /gm);
const decisions = headingsOf("docs/decisions.md", /^- \*\*([GC]\d+)\*\*/gm);
const promises = headingsOf("docs/internals/reliability.md", /^- \*\*(P\d+)\*\*/gm);
const rules = headingsOf("CONTRIBUTING.md", /^(\d+)\. /gm);

const citations: readonly Citation[] = [
  {
    pattern: /\bspec (\d+(?:\.\d+)?(?:(?:, | and )\d(?:\.\d+)?(?!\w))*)/gi,
    exists: (list) => list.split(/, | and /).every((section) => sections.has(section)),
    remedy: "cite a section that docs/specification.md has",
  },
  { pattern: /\bspec(?:ification)? sections? \d/gi, exists: () => false, remedy: "write it as spec 4.2" },
  {
    pattern: /(?<![\w#&.-])[GC]\d{1,3}\b(?![-.]\w)/g,
    exists: (number) => decisions.has(number),
    remedy: "add it to docs/decisions.md, or cite an existing number",
  },
  {
    pattern: /(?<![\w#&.-])P1?\d\b(?![-.]\w)/g,
    exists: (number) => promises.has(number),
    remedy: "add it to docs/internals/reliability.md, or cite an existing number",
  },
  {
    pattern: /\bCONTRIBUTING (\d+)/g,
    exists: (rule) => rules.has(rule),
    remedy: "cite a rule that CONTRIBUTING.md has",
  },
  {
    pattern: /(?<![\w./-])[\w./-]*\w\.md\b/g,
    exists: isPage,
    remedy: "name a page of the repository by its path from the root",
  },
  {
    pattern: /`((?:contract|server|web|images|testing|e2e|prove|bench|scripts)\/[\w./-]+\.(?:tsx?|mjs|sql))`/g,
    exists: (path, file) => !file.endsWith(".md") || file === history || existsSync(join(root, path)),
    remedy: "name a file by its path from the root",
  },
];

const files = globSync(searched, { cwd: root, exclude: (path) => generated.test(path) });
const faults = files.sort().flatMap((file) => {
  if (faulty.includes(file)) return [];
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  return lines.flatMap((line, index) => faultsIn(line, file).map((fault) => `${file}:${index + 1} cites ${fault}.`));
});
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);

function faultsIn(line: string, file: string): string[] {
  return citations.flatMap(({ pattern, exists, remedy }) =>
    [...line.matchAll(pattern)]
      .filter(([all, cited = all]) => !exists(cited, file))
      .map(([all]) => `${all}, which does not exist: ${remedy}`),
  );
}

/** A page may name pages relative to its folder, the root, or docs/. */
function isPage(page: string, from: string): boolean {
  const folders = [dirname(from), "", ...(ofPages.test(from) ? ["docs"] : [])];
  return folders.some((folder) => existsSync(join(root, folder, page)));
}

function headingsOf(page: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...readFileSync(join(root, page), "utf8").matchAll(pattern)].map(([, found = ""]) => found));
}
