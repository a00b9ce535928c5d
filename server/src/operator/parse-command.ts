import { parseArgs } from "node:util";
import type { Config } from "../config/config.ts";

export interface Command {
  /** One word, or two such as `hosts add`. */
  readonly name: string;
  /** In order: `[OPTIONAL]`, and `...` where more may follow. */
  readonly words: readonly string[];
  /** Without dashes, with what its value is called; "" takes none. */
  readonly options?: Readonly<Record<string, string>>;
  readonly about: string;
  readonly run: (config: Config, words: readonly string[], options: Options) => Promise<void>;
}

export type Options = Readonly<Record<string, string>>;

/** What was typed is no command of ours: the message says what is wrong with it, and `usage` how it is right. */
export class UsageError extends Error {
  readonly usage: string;

  constructor(message: string, usage = "") {
    super(message);
    this.usage = usage;
  }
}

type Parsed =
  | { readonly help: string }
  | { readonly command: Command; readonly words: readonly string[]; readonly options: Options };

/** What follows `npm run operator --`. Throws a UsageError. */
export function parseCommand(commands: readonly Command[], typed: readonly string[]): Parsed {
  const end = typed.includes("--") ? typed.indexOf("--") : typed.length;
  const [first = "", second = ""] = typed.slice(0, end).filter((word) => !/^-./.test(word));
  const group = first ? commands.filter(({ name }) => name.split(" ")[0] === first) : commands;
  const command = group.find(({ name }) => name === `${first} ${second}`) ?? group.find(({ name }) => name === first);
  const known = command ? [command] : group.length > 0 ? group : commands;
  if (typed.slice(0, end).some((word) => word === "--help" || word === "-h")) return { help: usageOf(known) };
  try {
    if (!command) throw new UsageError(unknown(first, second, group.length > 0));
    return { command, ...split(command, typed) };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usageOf(known)) : error;
  }
}

function unknown(first: string, second: string, isGroup: boolean): string {
  if (!first) return "Say what to do.";
  if (!isGroup) return `There is no command ${first}.`;
  return second ? `There is no command ${first} ${second}.` : `Say what to do about ${first}.`;
}

export function usageOf(commands: readonly Command[]): string {
  return commands
    .map(({ name, words, options = {}, about }) => {
      const given = Object.entries(options).map(([key, value]) => `[--${key}${value && ` ${value}`}]`);
      return `${["npm run operator --", name, ...words, ...given].join(" ")}\n    ${about}`;
    })
    .join("\n");
}

function split({ name, words: wanted, options: known = {} }: Command, typed: readonly string[]) {
  const { positionals, values } = parse(typed, known);
  const words = positionals.slice(name.split(" ").length);
  const missing = wanted.filter((word) => !word.startsWith("["))[words.length];
  if (missing) throw new UsageError(`${name} lacks ${missing.replace("...", "")}.`);
  const extra = wanted.some((word) => word.includes("...")) ? undefined : words[wanted.length];
  if (extra !== undefined) throw new UsageError(`${name} does not take ${extra}.`);
  const options = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
  return { words, options };
}

function parse(typed: readonly string[], known: Options) {
  const types = Object.entries(known).map(([key, value]) => [key, { type: value ? "string" : "boolean" }] as const);
  try {
    const options = Object.fromEntries(types) as Record<string, { type: "string" | "boolean" }>;
    return parseArgs({ args: [...typed], options, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && /^ERR_PARSE_ARGS/.test(String(error.code)))) throw error;
    // What follows is advice about words that begin with a dash.
    throw new UsageError(`${error.message.split(/\. |\n/)[0]}.`);
  }
}

/** Words that parse but do not fit together. */
export function usage(problem = "These words do not fit together."): never {
  throw new UsageError(problem);
}
