import type { Command } from "./parse-command.ts";

export const shells: readonly string[] = ["bash", "zsh", "fish"];

/** Returns a script for the shell: it completes commands, subcommands and options of the program. */
export function completionScript(commands: readonly Command[], shell: string, program: string): string {
  if (shell === "fish") return fishScript(commands, program);
  const script = bashScript(commands, program);
  return shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${script}` : script;
}

/** Words that may follow what is typed, by the words before them: "" for the first one. */
function wordsAfter(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, Set<string>>();
  const add = (typed: string, word: string) => void after.set(typed, (after.get(typed) ?? new Set()).add(word));
  for (const { name, options = {} } of commands) {
    const [first = "", second] = name.split(" ");
    add("", first);
    if (second) add(first, second);
    for (const option of ["help", ...Object.keys(options)]) add(name, `--${option}`);
  }
  return new Map([...after].map(([typed, words]) => [typed, [...words].sort()]));
}

function bashScript(commands: readonly Command[], program: string): string {
  const cases = [...wordsAfter(commands)].map(([typed, words]) => `    "${typed}") echo "${words.join(" ")}" ;;`);
  const name = `_${program.replaceAll("-", "_")}`;
  return `${name}_words() {
  case "$1" in
${cases.join("\n")}
  esac
}
${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words=$(${name}_words "")
  else
    words=$(${name}_words "\${COMP_WORDS[1]}")
    if [ "$COMP_CWORD" -gt 2 ]; then words="$(${name}_words "\${COMP_WORDS[1]} \${COMP_WORDS[2]}") $words"; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F ${name} ${program}`;
}

function fishScript(commands: readonly Command[], program: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, options = {}, about }) => {
    const [first = "", second] = name.split(" ");
    const isFirst = "test (count (commandline -opc)) -eq 1";
    const words = second
      ? [
          `-n ${quote(isFirst)} -a ${first}`,
          `-n ${quote(`test (count (commandline -opc)) -eq 2; and __fish_seen_subcommand_from ${first}`)} -a ${second} -d ${quote(about)}`,
        ]
      : [`-n ${quote(isFirst)} -a ${first} -d ${quote(about)}`];
    const seen = name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
    const flags = Object.entries(options).map(
      ([option, value]) => `-n ${quote(seen.join("; and "))} -l ${option}${value && " -x"}`,
    );
    return [...words, ...flags].map((line) => `complete -c ${program} -f ${line}`);
  });
  return [...new Set(lines)].join("\n");
}
