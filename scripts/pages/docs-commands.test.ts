import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commands } from "../../server/src/operator/commands.ts";
import { faultyCommands } from "./docs-commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const known = { commands, scripts: Object.keys(JSON.parse(read("package.json")).scripts) };
/** The changelog names what was. */
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root }).filter((page) => page !== "CHANGELOG.md");

test.each(pages)("every command in %s exists and would be accepted", (page) => {
  expect(faultyCommands(read(page), known)).toEqual([]);
});

const block = (line: string) => faultyCommands(`\`\`\`sh\n${line}\n\`\`\`\n`, known);

test.each([
  ["npm run nothing", "package.json has no script nothing"],
  ["npm run operator -- nothing", "There is no command nothing."],
  ["A=b npm run operator -- doctor --fast", "Unknown option '--fast'."],
  ["npm run operator -- hosts add \\\n  gpu-1", "hosts add lacks ssh://"],
  ["echo && npm run operator -- gpus lend", "There is no command gpus lend."],
  ["sudo berth doctor now", "doctor does not take now."],
  ["npm run operator -- catalogue > catalogue.json", "needs --silent"],
  ["npm run operator -- hosts firewall gpu-1 10.0.0.2 | ssh root@10.0.0.5 sh", "needs --silent"],
])("%s is refused in a block", (line, fault) => {
  expect(block(line)).toEqual([expect.stringContaining(fault)]);
});

test.each([
  "npm run operator -- doctor --json  # every morning",
  "berth decline ORDER 'with words' > answer.txt",
  "npm run --silent operator -- hosts firewall gpu-1 10.0.0.2 | ssh root@10.0.0.5 sh",
  "systemctl restart berth",
  "npm run --silent operator -- completion bash > file",
  "npm run operator -- COMMAND --help",
])("%s is accepted in a block", (line) => {
  expect(block(line)).toEqual([]);
});

test("in a sentence a command may lack its arguments, but must exist", () => {
  expect(faultyCommands("Use `npm run operator -- hosts add`, then `operator -- hosts`.", known)).toEqual([]);
  expect(faultyCommands("Use `npm run operator -- hosts lend`.", known)).toHaveLength(1);
});
