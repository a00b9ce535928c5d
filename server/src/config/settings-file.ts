import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { ConfigError, settingNames } from "./config.ts";
import { misspeltSettings } from "./misspelt-settings.ts";
import { isResticVariable } from "./restic-variables.ts";

type Variables = Readonly<Record<string, string | undefined>>;

interface Line {
  readonly number: number;
  readonly name: string;
  readonly value: string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Settings whose value is a path: one in the file is relative to the file. */
const pathSettings: readonly string[] = ["CATALOGUE", "DATA_DIR", "RUNTIMES_DIR"];

/**
 * The process environment, and below it the settings of ENV_FILE, or of `.env` beside package.json (G137). `NAME_FILE` names
 * a file with the value of NAME, for secrets. Without a DATA_DIR the data folder is beside the file. Throws a ConfigError
 * that names every wrong line.
 */
export function readSettingsFile(
  environment: Variables,
  home = root,
): { readonly variables: Variables; readonly warnings: readonly string[] } {
  const path = environment["ENV_FILE"] === undefined ? join(home, ".env") : resolve(environment["ENV_FILE"]);
  const text = environment["ENV_FILE"] === "" ? undefined : contentOf(path, environment["ENV_FILE"] !== undefined);
  const folder = text === undefined ? home : dirname(path);
  const lines = text === undefined ? [] : linesOf(text, path);
  const filed = Object.fromEntries(lines.map(({ name, value }) => [name, locate(folder, name, value)]));
  const variables = {
    DATA_DIR: join(folder, "data"),
    ...without(withFiles(filed), environment),
    ...withFiles(environment),
  };
  return { variables, warnings: [...misspeltSettings(environment, settingNames), ...unknownIn(lines, path)] };
}

function contentOf(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (!isNamed && codeOf(error) === "ENOENT") return undefined;
    throw new ConfigError(`The settings of ${path} cannot be read: ${codeOf(error)}.`);
  }
}

function linesOf(text: string, path: string): Line[] {
  const lines: Line[] = [];
  const problems: string[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const found = readLine(line);
    const earlier = "name" in found ? lines.find(({ name }) => name === found.name) : undefined;
    const problem =
      "problem" in found ? found.problem : earlier && `${found.name} is on line ${earlier.number} already`;
    if (problem) problems.push(`${path}, line ${index + 1}: ${problem}.`);
    else if ("name" in found) lines.push({ number: index + 1, ...found });
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return lines;
}

/** Node's parser skips what it does not understand, and cuts values at any `#`. Messages never contain the value. */
function readLine(line: string): { readonly name: string; readonly value: string } | { readonly problem: string } {
  const [, name = "", value = ""] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)/.exec(line) ?? [];
  const given = value.trim();
  if (!name) return { problem: "it is not NAME=value" };
  if (/^["'`]/.test(given)) {
    if (!/^(["'`])((?!\1).)*\1(\s+#.*)?$/.test(given))
      return { problem: `the quotes of ${name} do not enclose its value` };
  } else if (/\S#/.test(given))
    return { problem: `${name} contains a #, which begins a comment: put the value in quotes` };
  return { name, value: parseEnv(line)[name] ?? "" };
}

function locate(folder: string, name: string, value: string): string {
  const isPath = pathSettings.includes(name) || settingOfFile(name) !== undefined;
  return isPath && value !== "" ? resolve(folder, value) : value;
}

/** The values of `NAME_FILE` variables under their settings' names. */
function withFiles(variables: Variables): Variables {
  const found: Record<string, string | undefined> = { ...variables };
  for (const [name, path] of Object.entries(variables)) {
    const setting = settingOfFile(name);
    if (!setting || !path) continue;
    if (variables[setting]) throw new ConfigError(`${setting} and ${name}: set one of them.`);
    try {
      found[setting] = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    } catch (error) {
      throw new ConfigError(`The file of ${name} cannot be read: ${path}: ${codeOf(error)}.`);
    }
  }
  return found;
}

/** The file's variables, without those that the process environment has, itself or as `NAME_FILE`. */
function without(filed: Variables, environment: Variables): Variables {
  const has = (name: string) => environment[name] !== undefined || environment[`${name}_FILE`] !== undefined;
  return Object.fromEntries(Object.entries(filed).filter(([name]) => !has(name)));
}

function settingOfFile(name: string): string | undefined {
  return settingNames.find((setting) => name === `${setting}_FILE`);
}

function unknownIn(lines: readonly Line[], path: string): string[] {
  // Docker Compose reads the same file, and restic gets its variables from it.
  const isOthers = (name: string) => name.startsWith("COMPOSE_") || isResticVariable(name);
  const isKnown = (name: string) => settingNames.includes(name) || settingOfFile(name) || isOthers(name);
  return lines
    .filter(({ name }) => !isKnown(name))
    .map(({ number, name }) => {
      const [near] = misspeltSettings({ [name]: "" }, settingNames);
      return `${path}, line ${number}: ${near ?? `${name} is not a setting and does nothing`}`;
    });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
