import { type Config, ConfigError } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import type { Command } from "../parse-command.ts";
import { type Columns, printRows } from "../print-rows.ts";
import { authorOf, withDatabase } from "../with-database.ts";
import { addOperator, type ListedOperator, listOperators, removeOperator, resetOperator } from "./add-operator.ts";
import { consoleUrl } from "./console-url.ts";

/** Accounts of the operator's console (G143). */
export const operatorsCommands: readonly Command[] = [
  {
    name: "operators add",
    args: ["MAIL"],
    about: "adds an account of the console and prints the one-time link that sets it up",
    example: "operators add ada@berth.example",
    run: (config, [email = ""], options) => printLink(config, (db) => addOperator(db, email, authorOf(options))),
  },
  {
    name: "operators list",
    args: [],
    options: { json: "" },
    about: "lists the accounts of the console",
    example: "operators list",
    run: async (config, _, options) =>
      printRows(await withDatabase(config, listOperators), columns, options, "There is no operator"),
  },
  {
    name: "operators remove",
    args: ["MAIL"],
    about: "removes an account of the console, and ends its sign-ins at once",
    example: "operators remove ada@berth.example",
    run: async (config, [email = ""], options) => {
      await withDatabase(config, (db) => removeOperator(db, email, authorOf(options)));
      console.log(`${email} is removed`);
    },
  },
  {
    name: "operators reset",
    args: ["MAIL"],
    about: "takes password, second factor and sign-ins away, and prints a new one-time link",
    example: "operators reset ada@berth.example",
    run: (config, [email = ""], options) => printLink(config, (db) => resetOperator(db, email, authorOf(options))),
  },
];

const columns: Columns<ListedOperator> = {
  address: ({ email }) => email,
  account: ({ state }) => state,
  "second factor": ({ second_factor }) => (second_factor ? "yes" : "no"),
  added: ({ created_at }) => created_at,
  "last seen": ({ seen_at }) => seen_at,
};

/** The code is in the fragment, which no server and no proxy logs. */
async function printLink(config: Config, create: (db: Db) => Promise<string>): Promise<void> {
  if (!config.console) throw new ConfigError("OPERATOR_PORT is not set, so there is no console to sign in to");
  const code = await withDatabase(config, create);
  console.log(`${consoleUrl(config.console)}/operator/link#${code}`);
  console.log("This link works once, for 24 hours, in the browser and from the address that open it first.");
}
