import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { plant, root, run } from "../testing/plant.ts";

/** Lints the files with the project's rules. */
function lint(files: Readonly<Record<string, string>>): { failed: boolean; output: string } {
  const folder = plant(files);
  cpSync(join(root, "biome.json"), join(folder, "biome.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return run(join(root, "node_modules/.bin/biome"), ["lint", "."], folder);
}

const checkLayers = (files: Readonly<Record<string, string>>) =>
  run(process.execPath, [join(root, "scripts/checks/check-layers.ts"), plant(files)]);

test.each([
  ["server/src/database/bad.ts", "server/src/payments/orders/place-order.ts"],
  ["server/src/http/bad.ts", "server/src/environments/reconciler/plan.ts"],
  ["server/src/payments/ledger/bad.ts", "server/src/payments/orders/place-order.ts"],
  ["server/src/environments/leases/bad.ts", "server/src/environments/queue/serve-queue.ts"],
  ["server/src/roles/bad.ts", "server/src/main.ts"],
  ["contract/src/bad.ts", "server/src/app-error.ts"],
  ["web/src/ui/toast/bad.ts", "web/src/ui/dialogs/dialog.ts"],
  ["web/src/environments/bad.ts", "web/src/shell/shell.ts"],
])("%s may not import %s to its right, nor a type of it", (from, to) => {
  const path = relative(dirname(from), to);
  for (const statement of [`export { x } from "${path}";`, `import type { X } from "${path}";`]) {
    const { failed, output } = checkLayers({ [from]: `${statement}\n`, [to]: "export const x = 1;\n" });
    expect(output).toContain(`${from} imports ${to}, which is to its right: move what both need`);
    expect(failed).toBe(true);
  }
});

test("an entry without a place in the order of its folder is named", () => {
  const from = "server/src/drivers/cluster/cluster-driver.ts";
  const to = "server/src/drivers/driver.ts";
  const { failed, output } = checkLayers({
    [from]: 'export { x } from "../driver.ts";\n',
    [to]: "export const x = 1;\n",
  });
  expect(output).toBe(
    "server/src/drivers/cluster has no place in the order of its folder: add it to scripts/checks/check-layers.ts\n",
  );
  expect(failed).toBe(true);
});

test("imports to the left are allowed, and tests may import anything", () => {
  const to = "server/src/environments/allocation/launch.ts";
  const from = "server/src/payments/orders/place-order.ts";
  const files = {
    [to]: "export const x = 1;\n",
    [from]: 'export { x } from "../../environments/allocation/launch.ts";\n',
    "server/src/database/one.test.ts": 'import { x } from "../payments/orders/place-order.ts";\n',
  };
  expect(checkLayers(files)).toEqual({ failed: false, output: "" });
});

test("a cycle is refused, also a type-only one", () => {
  const { failed, output } = checkLayers({
    "server/src/http/one.ts": 'import type { Two } from "./two.ts";\nexport type One = Two;\n',
    "server/src/http/two.ts": 'import type { One } from "./one.ts";\nexport type Two = One;\n',
  });
  expect(output).toContain("server/src/http/one.ts -> server/src/http/two.ts -> server/src/http/one.ts is a cycle");
  expect(failed).toBe(true);
});

test("the product imports no test code, and every folder with subfolders has an order", () => {
  const { output } = checkLayers({
    "server/src/http/one.ts": 'import "../testing/two.ts";\n',
    "server/src/testing/two.ts": "export const two = 2;\n",
    "web/src/legal/rooms/one.ts": "export const one = 1;\n",
  });
  expect(output).toContain("server/src/http/one.ts imports server/src/testing/two.ts, which is test code");
  expect(output).toContain("web/src/legal has folders without an order: add it to scripts/checks/check-layers.ts");
});

const glossary = "# Glossary\n\n## Retired words\n\n`errand`, `take effect`\n";
const checkNames = (files: Readonly<Record<string, string>>) =>
  run(process.execPath, [
    join(root, "scripts/checks/check-names.ts"),
    plant({ "docs/internals/glossary.md": glossary, ...files }),
  ]);

test("G326 a pattern is refused whose time grows faster than its text, not a test's or one with an end", () => {
  const folder = plant({
    "server/src/a.ts": "/^\\d+ .*$/.test(text);\ntext.replace(/\\s+$/, '').split(/(a+)+b/);\n",
    "server/src/b.ts": "text.replace(/\\s+/g, ' ').replace(/={1,2}$/, '');\n",
    "server/src/a.test.ts": "text.replace(/\\s+$/, '');\n",
  });
  const { failed, output } = run(process.execPath, [join(root, "scripts/checks/check-patterns.ts"), folder]);
  expect(failed).toBe(true);
  expect(
    output
      .trim()
      .split("\n")
      .map((line) => line.split(" takes ")[0]),
  ).toEqual(["server/src/a.ts:2: /\\s+$/", "server/src/a.ts:2: /(a+)+b/"]);
});

test("a retired word is refused in an identifier and in a file name, not in a string, a comment or a column", () => {
  const { failed, output } = checkNames({
    "server/src/one.ts": "export function one(takeEffectNow: number) {\n  return takeEffectNow;\n}\n",
    "server/src/run-errand.ts": "export const runErrand = 1;\n",
    "server/src/two.ts": '/** An errand. */\nexport const two = { errand_id: "errand" };\n',
  });
  expect(output).toContain('server/src/one.ts: takeEffectNow uses the retired word "take effect"');
  expect(output).toContain('server/src/run-errand.ts: run-errand.ts uses the retired word "errand"');
  expect(output).toContain('server/src/run-errand.ts: runErrand uses the retired word "errand"');
  expect(output).not.toContain("server/src/two.ts");
  expect(failed).toBe(true);
});

test("a file is named after its main export", () => {
  const { failed, output } = checkNames({
    "server/src/effects.ts": "export function settlePayment() {}\n",
    "server/src/order-poller.ts": "export function startOrderPoller() {}\n",
    "server/src/gpu-leases.ts": "export const leaseGpus = 1;\nexport const releaseGpus = 2;\n",
    "server/src/pair.ts": "export const one = 1;\nexport const two = 2;\n",
  });
  const remedy = "is not named after its main export: rename the file or the export";
  expect(output).toBe(`server/src/effects.ts ${remedy}\nserver/src/pair.ts ${remedy}\n`);
  expect(failed).toBe(true);
});

test("only main reads the process environment", () => {
  const bad = "export const home = process.env.HOME;\n";
  expect(lint({ "server/src/http/bad.ts": bad }).output).toContain("noProcessEnv");
  expect(lint({ "server/src/main.ts": bad }).output).not.toContain("noProcessEnv");
});

test("only commands print", () => {
  const text = 'console.log("done");\n';
  expect(lint({ "server/src/http/bad.ts": text }).output).toContain("noConsole");
  expect(lint({ "scripts/bad.ts": text }).output).not.toContain("noConsole");
});

/** Runs the coverage check on a page beside two test files. */
function cover(page: string, findings = "", requirements = ""): { failed: boolean; output: string } {
  const folder = plant({
    "docs/security/asvs.md": `## V1\n\n| Requirement | About | Shown by |\n|---|---|---|\n${requirements}`,
    "docs/spec-coverage.md": page,
    "docs/proof.md": `## findings\n\n| Finding | Held by | Answered |\n|---|---|---|\n${findings}\n## hostile\n\n| Attack |\n|---|\n| 1 |\n`,
    "docs/decisions.md": "- **G1** a\n- **G2** b\n",
    "one.test.ts": 'test("one is shown", () => expect("Failed to pause container"));\n',
    "server/money.test.ts": 'test("C1 a: b", () => {});\ntest.each([1])(\n  "C2 %s", () => {},\n);\n',
  });
  return run(process.execPath, [join(root, "scripts/checks/check-coverage.mjs"), folder]);
}

const proof = '`one.test.ts` › "one is shown"';
const decisions = `## Decisions\n\n| G | What | Shown by |\n|---|---|---|\n| G1 | a | ${proof} |\n`;
const messages = `## Messages of section 8\n\`\`\`text\nFailed to {action} container\n\`\`\`\n\n| Text | Where | Shown by |\n|---|---|---|\n`;
const cases = "\n## Cases of money\nC1 to C2.\n";
const second = "| G2 | b | Later: Docker, because it needs one |\n";
const message = `| Failed to {action} container | list | ${proof} |\n`;

test("a coverage page without a gap passes", () => {
  expect(cover(`${decisions}${second}\n${messages}${message}${cases}`)).toEqual({ failed: false, output: "" });
});

test.each([
  ["a decision without a row", `${decisions}\n${messages}${message}`, "G2 has no row"],
  [
    "a message without a row",
    `${decisions}${second}\n${messages}`,
    "the message Failed to {action} container has no row",
  ],
  ["a row without proof", `${decisions}| G2 | b | soon |\n\n${messages}${message}`, "G2 has no proof"],
  ["an empty row", `${decisions}| G2 | b | |\n\n${messages}${message}`, "G2 has no proof"],
  [
    "a file that does not exist",
    `${decisions}| G2 | b | \`two.test.ts\` › "one is shown" |\n\n${messages}${message}`,
    "names two.test.ts, which does not exist",
  ],
  [
    "a title that does not exist",
    `${decisions}| G2 | b | \`one.test.ts\` › "two is shown" |\n\n${messages}${message}`,
    'names "two is shown", which one.test.ts does not have',
  ],
  [
    "a message that its test does not contain",
    `${decisions}${second}\n${messages}${message}| Failed to log out | header | ${proof} |\n`,
    "Failed to log out is in no named test",
  ],
  [
    "a case without a test",
    `${decisions}${second}\n${messages}${message}${cases.replace("C2", "C3")}`,
    "no test's title begins with C3",
  ],
  [
    "a page without the cases",
    `${decisions}${second}\n${messages}${message}`,
    "does not state the range of its C-numbers",
  ],
])("the coverage check refuses %s", (_, page, gap) => {
  const { failed, output } = cover(page);
  expect(output).toContain(gap);
  expect(failed).toBe(true);
});

test.each([
  ["a test that does not exist", `| 1.1 a | \`one.test.ts\` › "two is shown" | b |`, 'names "two is shown"'],
  ["nothing", `| 1.1 a | once | ${proof} |`, "docs/proof.md: 1.1 a has no proof"],
])("G325 the coverage check refuses a finding that is held by %s", (_, row, gap) => {
  const page = `${decisions}${second}\n${messages}${message}${cases}`;
  expect(cover(page, `| 1.1 a | ${proof} | b |`).output).toBe("");
  expect(cover(page, row).output).toContain(gap);
});

test("the coverage check refuses a requirement of ASVS without a test or a reason", () => {
  const page = `${decisions}${second}\n${messages}${message}${cases}`;
  expect(cover(page, "", `| 1.1.1 | a | ${proof} |\n| 1.1.2 | b | Not held: too dear |\n`).output).toBe("");
  expect(cover(page, "", "| 1.1.1 | a | yes |\n").output).toContain("docs/security/asvs.md: V1: 1.1.1 has no proof");
  const gone = '| 1.1.1 | a | `one.test.ts` › "two is shown" |\n';
  expect(cover(page, "", gone).output).toContain('names "two is shown"');
});

test("the specification keeps each promise that the product keeps otherwise, beside its deviation (G309)", () => {
  const plain = (page: string) => readFileSync(join(root, page), "utf8").replace(/\s+/g, " ");
  const specification = plain("docs/specification.md");
  const deviations = plain("docs/spec-coverage.md").split("## Deviations")[1] ?? "";
  for (const [promised, deviation] of [
    ["A hosted identity provider signs users in", "A hosted identity provider"],
    ["a hosted document database", "A hosted document database client"],
    ["a fixed badge of 3", "A fixed notification badge of 3"],
    ["a Jupyter password, a fixed value", "A hint button shows a fixed Jupyter password"],
    ["1.5 s after success the page reloads", "The page reloads 1.5 s after an action"],
    ["Usage hours are expiry minus creation per container", "Usage hours are expiry minus creation"],
    ["which no visible control uses", "without a visible control"],
    ["Settings: profile or password.", "Tabs Profile and Password"],
    ["no server call is made for that hand-off", "Support makes no server call"],
    ["the provider's message, or", "The login's failure is the provider's message"],
  ]) {
    expect(specification).toContain(promised);
    expect(deviations).toContain(deviation);
  }
});
