import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commands } from "./commands.ts";
import { completionScript } from "./completion-script.ts";
import { parseCommand } from "./parse-command.ts";

test.each(commands.map(({ name, example }) => ({ name, example })))(
  "the example of $name is complete",
  ({ name, example }) => {
    const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    expect(parseCommand(commands, words)).toMatchObject({ command: { name } });
  },
);

test("a command has one name, and one line about it", () => {
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  for (const { name, about } of commands) expect(about, name).toMatch(/^[a-z][^\n]+[^.\n]$/);
});

/** What bash would offer for the last of the words. */
function completed(program: string, ...words: string[]): readonly string[] {
  const script = `${completionScript(commands, "bash", program)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${program.replaceAll("-", "_")}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean);
}

test("bash completes commands, subcommands and options", () => {
  expect(completed("berth", "berth", "ho")).toEqual(["hosts"]);
  expect(completed("berth", "berth", "")).toEqual([...new Set(commands.map(({ name }) => name.split(" ")[0]))].sort());
  expect(completed("berth", "berth", "hosts", "l")).toEqual(["list", "lost"]);
  expect(completed("berth", "berth", "hosts", "add", "--ho")).toEqual(["--home-root"]);
  expect(completed("berth", "berth", "audit", "--")).toEqual(["--help", "--json", "--limit", "--since", "--subject"]);
  expect(completed("berth", "berth", "refund", "order", "full", "--y")).toEqual(["--yes"]);
  expect(completed("my-berth", "my-berth", "gpus", "rel")).toEqual(["release"]);
});

test("zsh uses the completion of bash; fish has a line for every command and option", () => {
  expect(completionScript(commands, "zsh", "berth")).toMatch(
    /^autoload -U \+X bashcompinit && bashcompinit\n_berth_words/,
  );
  const fish = completionScript(commands, "fish", "berth").split("\n");
  for (const { name, options = {} } of commands) {
    const last = name.split(" ").at(-1);
    expect(
      fish.some((line) => line.includes(` -a ${last}`)),
      name,
    ).toBe(true);
    for (const option of Object.keys(options)) expect(fish.some((line) => line.includes(` -l ${option}`))).toBe(true);
  }
});
