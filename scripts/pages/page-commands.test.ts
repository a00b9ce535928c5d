import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig, settingNames } from "../../server/src/config/config.ts";
import { whyNoTools } from "../../server/src/operator/backup/testing/setup-backup.ts";
import { commandRunner } from "../../server/src/operator/testing/run-command.ts";
import { commandsElsewhere, npmScripts, type RunBy } from "../testing/commands-elsewhere.ts";
import { type Outcome, openShell, type Shell } from "../testing/open-shell.ts";
import { openShop, type Shop } from "../testing/open-shop.ts";
import { pageCommands } from "../testing/page-commands.ts";
import { pageScenes } from "../testing/page-scenes.ts";
import { wordsOf } from "./docs-commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
/** The changelog names what was. */
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root })
  .filter((page) => page !== "CHANGELOG.md" && pageCommands(read(page)).length > 0)
  .toSorted();
/** Programs that this test lets a page run, with what is left out where one is not installed. */
const runnable =
  /^(\w+=("[^"]*"|\S+) )*(npm run (--silent )?operator --|npm start|berth|cat|chmod|cp|curl|echo|export|git|jq|ln|mkdir|nohup|openssl|printf|sed|tail)(?=\s|$)/;
const optional = ["curl", "git", "jq", "openssl"].filter((name) => spawnSync("which", [name]).status !== 0);
const noTools = await whyNoTools();

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
}, 120_000);
afterAll(async () => await shop?.close());

const elsewhere = (command: string) => commandsElsewhere.find((row) => row.command.test(command));

/** Why a command cannot run on this machine. */
function lackOf(command: string): string | undefined {
  if (noTools && /\b(backup|restore) /.test(command)) return noTools;
  const name = optional.find((each) => new RegExp(`\\b${each} `).test(command));
  return name && `there is no ${name} here`;
}

function reasonOf(page: string): string {
  const lacks = pageCommands(read(page)).flatMap((command) => lackOf(command) ?? []);
  return lacks.length > 0 ? ` (some are skipped: ${[...new Set(lacks)].join(", ")})` : "";
}

/**
 * Plain commands of the operator run in this process, with the words that a shell would find: each process costs half a
 * second. What prints into a file or a pipe, or reads one, needs a shell.
 */
async function openRunner({ folder, env }: Shop): Promise<Shell> {
  const shell = openShell(folder, env);
  const operator = await commandRunner(undefined, env);
  return async (command, more) => {
    const [, words] = /^(?:npm run operator --|berth) ((?!doctor|health)[^|<>$&;~/#]+)(?: #.*)?$/.exec(command) ?? [];
    if (words === undefined || words.includes(".json")) return await shell(command, more);
    const { code, stdout, stderr } = await operator(...wordsOf(words.trim()));
    return { code, output: stdout + stderr };
  };
}

const seen = new Set<string>();

/** Whether a page before this one had the command, of those that are slow and the same on every page. */
function wasSeen(command: string): boolean {
  const [, name] = /^(?:berth|npm run operator --) (doctor|backup)(?! verify)\b/.exec(command) ?? [];
  if (name === undefined) return false;
  const isSeen = seen.has(name);
  seen.add(name);
  return isSeen;
}

test.each(pages)("every command of %s is one that runs here, or is in the table", (page) => {
  const unknown = pageCommands(read(page)).filter((command) => !elsewhere(command) && !runnable.test(command));
  expect(unknown).toEqual([]);
});

test.each(pages.map((page) => ({ page, reason: reasonOf(page) })))(
  "the commands of $page work$reason",
  async ({ page, reason }) => {
    const run = await openRunner(shop);
    const operate = async (command: string) => {
      const { code, output } = await run(command);
      expect(code, output).toBe(0);
      return output;
    };
    const scene = await pageScenes[page]?.(shop, operate);
    for (const command of new Set(pageCommands(read(page)))) {
      if (elsewhere(command) || lackOf(command) || wasSeen(command)) continue;
      const typed = (scene?.values?.() ?? []).reduce((line, [from, to]) => line.replaceAll(from, to), command);
      judge(typed, await run(typed, scene?.env));
    }
    if (reason === "") await scene?.after?.();
  },
);

/** doctor ends with 1 when it finds something; a stream that is read for a while ends with 28. */
function judge(command: string, { code, output, started }: Outcome): void {
  const allowed = /\bdoctor\b/.test(command) ? [0, 1] : /--max-time/.test(command) ? [28] : [0];
  expect(allowed, `${command}\n${output}`).toContain(code);
  if (!started) return;
  const settings = Object.fromEntries(Object.entries(started).filter(([name]) => settingNames.includes(name)));
  const { PWD = "", CATALOGUE } = started;
  readConfig({ ...settings, ...(CATALOGUE && { CATALOGUE: join(PWD, CATALOGUE) }) });
}

test("each row of the table is used, and its test or proof is there", () => {
  const all = pages.flatMap((page) => pageCommands(read(page)));
  for (const { command, by } of commandsElsewhere) {
    expect(
      all.some((line) => command.test(line)),
      `${command} is in no page`,
    ).toBe(true);
    expectThere(by);
  }
});

test("every script of package.json has a test or proof, or says why not", () => {
  expect(Object.keys(npmScripts).toSorted()).toEqual(Object.keys(JSON.parse(read("package.json")).scripts).toSorted());
  for (const by of Object.values(npmScripts)) expectThere(by);
});

test("every proof and measurement that a page names exists", () => {
  const named = pages
    .concat("CONTRIBUTING.md", "docs/proof.md")
    .flatMap((page) => [...read(page).matchAll(/npm run (prove|bench) -- ([a-z]+)/g)]);
  expect(named.length).toBeGreaterThan(5);
  const programs = { prove: read("prove/run.ts"), bench: read("bench/run.ts") + read("scripts/pages/ledger.ts") };
  for (const [typed, folder, name] of named)
    expect(programs[folder as keyof typeof programs], typed).toMatch(new RegExp(`\\b${name}\\b`));
});

function expectThere(by: RunBy): void {
  if (typeof by === "string") return;
  const [file, words] = by;
  expect(existsSync(join(root, file)) && read(file).includes(words), `${file} has no ${words}`).toBe(true);
}

test("continued lines and here-documents are one command, and what is no shell is none", () => {
  const page =
    "```sh\na \\\n  b   # why\n# only a comment\ncat <<'END'\n# c\nEND\nd\n```\n\n```json\n{}\n```\n\n```\ne\n```\n";
  expect(pageCommands(page)).toEqual(["a b   # why", "cat <<'END'\n# c\nEND", "d", "e"]);
});
