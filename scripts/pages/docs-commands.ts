import { type Command, parseCommand, UsageError } from "../../server/src/operator/parse-command.ts";

interface Known {
  /** Scripts of package.json. */
  readonly scripts: readonly string[];
  /** The operator's commands. */
  readonly commands: readonly Command[];
}

/** Commands in the code of a Markdown page that do not exist, or that the operator's command line would refuse. */
export function faultyCommands(page: string, known: Known): readonly string[] {
  const typed = [...page.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, code = ""]) => linesOf(code));
  const blocks = typed.flatMap((line) => line.split(/\s(?:\||&&|;)\s/));
  const inline = [...page.replace(/^```.*?^```/gms, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) =>
    code.replaceAll(/\s+/g, " "),
  );
  return [
    ...typed.filter((line) => bannered.test(line)).map((line) => `${line}: needs --silent, or npm's lines go with it`),
    ...blocks.flatMap((line) => faultsIn(line, known, () => true)),
    // In a sentence a command may be without its arguments.
    ...inline.flatMap((line) => faultsIn(line, known, (fault) => !/ lacks | needs a subcommand/.test(fault))),
  ];
}

/** The output of `npm run` in a file or another program: npm writes two lines of its own before it. */
const bannered = /\bnpm run (?!--silent ).*\s(?:>|\|)\s/;

/** Continued lines are joined, and comments are left out. */
function linesOf(code: string): readonly string[] {
  return code
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "$1").trim());
}

function faultsIn(line: string, known: Known, counts: (fault: string) => boolean): readonly string[] {
  const [, script] = /\bnpm run (?:-[\w-]+ )*(\w[\w:-]*)/.exec(line) ?? [];
  if (script !== undefined && !known.scripts.includes(script)) return [`${line}: package.json has no script ${script}`];
  const [, typed] = /(?:\boperator --|^(?:sudo )?(?:\w+=\S+ )*berth) (.+)/.exec(line) ?? [];
  if (typed === undefined) return [];
  const words = wordsOf(typed);
  // A placeholder, such as COMMAND, or what bin/berth itself answers.
  if (/^([A-Z]+|start|images)$/.test(words[0] ?? "")) return [];
  const fault = refusalOf(words, known.commands);
  return fault !== undefined && counts(fault) ? [`${line}: ${fault}`] : [];
}

function refusalOf(words: readonly string[], commands: readonly Command[]): string | undefined {
  try {
    parseCommand(commands, words);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/** As a shell parts them, up to a redirection. */
export function wordsOf(typed: string): readonly string[] {
  const [command = ""] = typed.split(/\s\d?[<>]/);
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
    String(double ?? single ?? bare),
  );
}
