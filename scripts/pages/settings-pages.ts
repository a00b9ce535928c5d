import type { SettingDescription } from "../../server/src/config/describe-settings.ts";
import { settingGroups } from "./setting-groups.ts";

interface Group {
  readonly title: string;
  readonly settings: readonly SettingDescription[];
}

const notice = "written by `npm run docs` from server/src/config/settings.ts: never edit it";

/** docs/configuration.md and .env.example. Throws one error that names every setting without a description or a group. */
export function settingsPages(
  all: readonly SettingDescription[],
): Readonly<Record<"docs/configuration.md" | ".env.example", string>> {
  const groups = groupsOf(all.filter(({ like }) => like === undefined));
  return { "docs/configuration.md": pageOf(groups), ".env.example": exampleOf(groups) };
}

function groupsOf(settings: readonly SettingDescription[]): readonly Group[] {
  const listed = settingGroups.flatMap(({ names }) => names.split(" "));
  const faults = [
    ...settings.flatMap(({ name, description }) => (description ? [] : [`${name} has no description`])),
    ...settings.flatMap(({ name }) => (listed.includes(name) ? [] : [`${name} has no group`])),
    ...listed.flatMap((name, index) => (listed.indexOf(name) === index ? [] : [`${name} has two groups`])),
    ...listed.flatMap((name) => (settings.some((each) => each.name === name) ? [] : [`${name} is not a setting`])),
  ];
  if (faults.length > 0)
    throw new Error(`server/src/config/settings.ts and scripts/pages/setting-groups.ts: ${faults.join("; ")}`);
  return settingGroups.map(({ title, names }) => ({
    title,
    settings: names.split(" ").flatMap((name) => settings.filter((each) => each.name === name)),
  }));
}

function pageOf(groups: readonly Group[]): string {
  return `<!-- This page is ${notice}. -->

# Settings

Every setting has a default, and \`npm start\` needs none of them. All are checked together at the start: the server says
in one message what does not fit, and does not start. An empty value counts as none.

The server and the operator's commands read them from the same two places. The process environment wins over the file.
The file is \`.env\` beside \`package.json\`, or the one that \`ENV_FILE\` names (\`ENV_FILE=\` reads none);
\`.env.example\` lists all settings for copying into it.

| In the file | |
|---|---|
| \`NAME=value\`, a comment after \` #\` | a value with \`#\` in it needs quotes. A wrong line is refused with its number, an unknown name is a warning in the log |
| \`NAME_FILE=path\` | the value of \`NAME\` is in another file, as secrets of a container are |
| a path | is relative to the file; without \`DATA_DIR\` the data folder is \`data\` beside it |

${groups.map(sectionOf).join("\n\n")}
`;
}

function sectionOf({ title, settings }: Group): string {
  const rows = settings.map(
    (each) => `| \`${each.name}\` | ${each.description} | ${valuesOf(each)} | ${withoutValue(each)} |`,
  );
  return [`## ${title}`, "", "| Setting | What it does | Values | Default |", "|---|---|---|---|", ...rows].join("\n");
}

function valuesOf({ enum: words, type, example, ...range }: SettingDescription): string {
  if (words) return words.map((word) => `\`${word}\``).join(", ");
  if (type !== "string") return rangeOf(range);
  return example === undefined || example === "..." ? "" : `such as \`${example}\``;
}

function rangeOf({ minimum = 1, exclusiveMinimum, maximum }: Omit<SettingDescription, "name">): string {
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return `${minimum} or more`;
  return exclusiveMinimum === undefined ? `${minimum} to ${maximum}` : `above ${exclusiveMinimum}, to ${maximum}`;
}

function withoutValue({ unset, default: value }: SettingDescription): string {
  if (unset !== undefined) return unset;
  return value === undefined || value === "" ? "none" : `\`${value}\``;
}

function exampleOf(groups: readonly Group[]): string {
  const head = [
    "# Every setting has a default: `npm start` needs none of these. Copy this file to .env: docs/configuration.md says how it is read.",
    `# This file is ${notice}.`,
  ];
  return `${[head.join("\n"), ...groups.map(blockOf)].join("\n\n")}\n`;
}

function blockOf({ title, settings }: Group): string {
  return [`## ${title}`, ...settings.map(linesOf)].join("\n");
}

function linesOf(setting: SettingDescription): string {
  const { name, default: value, example, description, unset, enum: words } = setting;
  const notes = [description, words?.join(" | "), unset && `default: ${unset}`].filter(Boolean).join("; ");
  const given = value === undefined || value === "" ? (example ?? words?.[0] ?? "") : value;
  return `# ${notes.replaceAll("`", "")}\n# ${name}=${quoted(String(given))}`;
}

/** For a shell and for an environment file of systemd. */
function quoted(value: string): string {
  return /[\s&#]/.test(value) ? `"${value}"` : value;
}
