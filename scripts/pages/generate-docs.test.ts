import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { settingNames } from "../../server/src/config/config.ts";
import { describeSettings } from "../../server/src/config/describe-settings.ts";
import { readSettingsFile } from "../../server/src/config/settings-file.ts";
import { commands } from "../../server/src/operator/commands.ts";
import { commandsPage } from "./commands-page.ts";
import { generatedDocs } from "./generate-docs.ts";
import { settingsPages } from "./settings-pages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const settings = describeSettings();
/** Without those that another one's row stands for too (OIDC_2_ISSUER). */
const withRow = settings.filter(({ like }) => like === undefined).map(({ name }) => name);

test("the generated pages match what they are generated from", () => {
  for (const [path, text] of Object.entries(generatedDocs())) {
    const isFresh = readFileSync(join(root, path), "utf8") === text;
    expect(isFresh, `${path} is stale: run \`npm run docs\` and commit what it writes`).toBe(true);
  }
});

test("every setting is on the page and in the example, once", () => {
  const pages = settingsPages(settings);
  const rows = [...pages["docs/configuration.md"].matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const lines = [...pages[".env.example"].matchAll(/^# (\w+)=/gm)].map(([, name]) => name);
  for (const found of [rows, lines]) expect(found.toSorted()).toEqual(withRow.toSorted());
  for (const { name, like = name } of settings) expect(withRow, name).toContain(like);
  expect(settings.map(({ name }) => name).toSorted()).toEqual(settingNames.toSorted());
});

test.each([
  ["PORT", "0 to 65535", "`3000`"],
  ["RUNTIME", "`process`, `docker`, `kubernetes`, `fake`", "`process`"],
  ["SUPPORT_ONLINE", "`true`, `false`", "`true`"],
  ["RETENTION_DAYS", "1 or more", "`30`"],
  ["APP_URL", "such as `https://berth.example`", "`http://localhost:{PORT}`"],
  ["RAZORPAY_KEY_SECRET", "", "none"],
])("the page says the values and the default of %s", (name, values, fallback) => {
  const page = settingsPages(settings)["docs/configuration.md"];
  const row = new RegExp(`^\\| \`${name}\` \\|.*$`, "m").exec(page)?.[0] ?? "";
  expect(row.endsWith(` | ${values} | ${fallback} |`), row).toBe(true);
});

test("every line of the example is read as it is written", () => {
  const example = settingsPages(settings)[".env.example"].replaceAll(/^# (?=\w+=)/gm, "");
  const folder = mkdtempSync(join(tmpdir(), "berth-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, ".env"), example);
  const { variables, warnings } = readSettingsFile({}, folder);
  expect(warnings).toEqual([]);
  expect(Object.keys(variables).toSorted()).toEqual(withRow.toSorted());
});

test("a setting without a description or a group is refused, and a group's name that is no setting", () => {
  expect(() => settingsPages([...settings, { name: "PLANTED" }])).toThrow(
    "PLANTED has no description; PLANTED has no group",
  );
  expect(() => settingsPages(settings.slice(1))).toThrow(`${settings[0]?.name} is not a setting`);
});

test("every command of the operator is on its page, once, with its options and its example", () => {
  const planted = {
    name: "tide tables",
    args: ["SEA | PORT"],
    about: "prints tides",
    example: "tide tables kiel",
    run: async () => {},
  };
  const page = commandsPage([...commands, planted]);
  const rows = [...page.matchAll(/^\| `(.+)` \| .+: `(.+)` \|$/gm)].map(([, usage = "", example]) => ({
    usage,
    example,
  }));
  expect(rows).toHaveLength(commands.length + 1);
  for (const { name, example, options = {} } of commands) {
    const found = rows.filter((row) => row.example === example && row.usage.startsWith(name));
    expect(found, name).toHaveLength(1);
    for (const option of Object.keys(options)) expect(found[0]?.usage).toContain(`[--${option}`);
  }
  expect(page).toContain("## tide\n\n| Command");
  expect(page).toContain("| `tide tables SEA \\| PORT` | prints tides: `tide tables kiel` |");
});
