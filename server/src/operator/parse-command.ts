import { parseArgs } from "node:util";
import type { Config } from "../config/config.ts";
import { operatorCommand } from "../text/operator-command.ts";

export interface Command {
  /** With its subcommand, such as `hosts add`. */
  readonly name: string;
  /** Placeholders in order: `[OPTIONAL]`, and `...` for one or more. */
  readonly args: readonly string[];
  /** Without dashes, with the placeholder of its value; "" for a flag. */
  readonly options?: Readonly<Record<string, string>>;
  readonly about: string;
  /** A complete command line, as typed after the program's name. */
  readonly example: string;
  readonly run: (config: Config, args: readonly string[], options: Options) => Promise<void>;
}

export type Options = Readonly<Record<string, string>>;

/** Invalid command line: the message names the fault, `usage` the correct form. */
export class UsageError extends Error {
  readonly usage: string;

  constructor(message: string, usage = "") {
    super(message);
    this.usage = usage;
  }
}

type Parsed =
  | { readonly help: string }
  | { readonly command: Command; readonly args: readonly string[]; readonly options: Options };

/** Parses the arguments after `berth` or `npm run operator --`. Throws UsageError. */
export function parseCommand(commands: readonly Command[], typed: readonly string[]): Parsed {
  const end = typed.includes("--") ? typed.indexOf("--") : typed.length;
  const [first = "", second = ""] = typed.slice(0, end).filter((word) => !/^-./.test(word));
  const group = first ? commands.filter(({ name }) => name.split(" ")[0] === first) : commands;
  const command = group.find(({ name }) => name === `${first} ${second}`) ?? group.find(({ name }) => name === first);
  const known = command ? [command] : group.length > 0 ? group : commands;
  if (typed.slice(0, end).some((word) => word === "--help" || word === "-h"))
    return { help: usageOf(second === "" && group.length > 0 ? group : known) };
  try {
    if (!command) throw new UsageError(unknown(first, second, group.length > 0));
    return { command, ...split(command, typed) };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usageOf(known)) : error;
  }
}

function unknown(first: string, second: string, isGroup: boolean): string {
  if (!first) return "No command is given.";
  if (!isGroup) return `There is no command ${first}.`;
  return second ? `There is no command ${first} ${second}.` : `${first} needs a subcommand.`;
}

export function usageOf(commands: readonly Command[]): string {
  return commands
    .map(({ name, args, options = {}, about, example }) => {
      const given = Object.entries(options).map(([key, value]) => `[--${key}${value && ` ${value}`}]`);
      return `${operatorCommand([name, ...args, ...given].join(" "))}\n    ${about}\n    ${operatorCommand(example)}`;
    })
    .join("\n");
}

function split({ name, args: wanted, options: known = {} }: Command, typed: readonly string[]) {
  const { positionals, values } = parse(typed, known);
  const args = positionals.slice(name.split(" ").length);
  const missing = wanted.filter((placeholder) => !placeholder.startsWith("["))[args.length];
  if (missing) throw new UsageError(`${name} lacks ${missing.replace("...", "")}.`);
  const extra = wanted.some((placeholder) => placeholder.includes("...")) ? undefined : args[wanted.length];
  if (extra !== undefined) throw new UsageError(`${name} does not take ${extra}.`);
  const options = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
  return { args, options };
}

function parse(typed: readonly string[], known: Options) {
  const types = Object.entries(known).map(([key, value]) => [key, { type: value ? "string" : "boolean" }] as const);
  try {
    const options = Object.fromEntries(types) as Record<string, { type: "string" | "boolean" }>;
    return parseArgs({ args: [...typed], options, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && /^ERR_PARSE_ARGS/.test(String(error.code)))) throw error;
    // Node's advice about arguments that begin with a dash is cut off.
    throw new UsageError(`${error.message.split(/\. |\n/)[0]}.`);
  }
}

/** Throws for arguments that parse but do not fit together. */
export function usage(problem = "These arguments do not fit together."): never {
  throw new UsageError(problem);
}
