import type { Config } from "../../config/config.ts";
import type { Command, Options } from "../parse-command.ts";
import { type Columns, printRows } from "../print-rows.ts";
import { authorOf, withDatabase } from "../with-database.ts";
import { dismissFinding, type MiningFinding, readFindings } from "./mining-findings.ts";

/** What the mining detector found, for a person to decide (G69, G157). */
export const miningCommands: readonly Command[] = [
  {
    name: "mining",
    args: [],
    options: { all: "", json: "" },
    about:
      "lists environments that look like crypto mining, with the evidence; with --all those that ended or were dismissed too",
    example: "mining --all",
    run: list,
  },
  {
    name: "mining dismiss",
    args: ["FINDING"],
    options: { reason: "TEXT" },
    about: "notes that a finding is no mining: it is not found again in that run",
    example: "mining dismiss a1b2c3d4e5f6g7h8j9k0m1n2p --reason 'A training started in a terminal'",
    run: dismiss,
  },
];

const columns: Columns<MiningFinding> = {
  finding: ({ id }) => id,
  environment: ({ environment_id }) => environment_id,
  name: ({ subdomain }) => subdomain,
  owner: ({ email, user_id }) => email ?? user_id,
  state: ({ state }) => state,
  found: ({ found_at }) => found_at,
  seen: ({ seen_at }) => seen_at,
  why: ({ evidence }) => [evidence.what, ...evidence.commands].join(" | "),
};

async function list(config: Config, _: readonly string[], options: Options): Promise<void> {
  const rows = await withDatabase(config, (db) => readFindings(db, { all: options["all"] !== undefined }));
  printRows(rows, columns, options, "Nothing looks like mining");
}

async function dismiss(config: Config, [id = ""]: readonly string[], options: Options): Promise<void> {
  const isNew = await withDatabase(config, (db) => dismissFinding(db, id, authorOf(options)));
  console.log(isNew ? `${id} is dismissed` : `${id} was dismissed before`);
}
