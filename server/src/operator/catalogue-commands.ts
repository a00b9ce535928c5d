import type { Catalogue } from "@berth/contract";
import { checkNotice } from "../catalogue/accept-catalogue.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { catalogueErrorOf, readCatalogueFile } from "../config/read-catalogue-file.ts";
import { SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError } from "../database/embedded.ts";
import type { Command } from "./parse-command.ts";
import { withDatabase } from "./with-database.ts";

/** What is sold (docs/operate/catalogue.md). */
export const catalogueCommands: readonly Command[] = [
  {
    name: "catalogue",
    args: [],
    about: "prints the catalogue in force as JSON: the file of CATALOGUE, or the built-in one",
    example: "catalogue",
    run: async ({ catalogue }) => console.log(JSON.stringify(catalogue, null, 2)),
  },
  {
    name: "catalogue check",
    args: ["FILE"],
    about: "checks a catalogue before a start with it, its 30 days' notice too; names each fault with line and field",
    example: "catalogue check catalogue.json",
    run: check,
  },
];

async function check(config: Config, [file = ""]: readonly string[]): Promise<void> {
  const catalogue = readCatalogueFile(file);
  const { problems, unknown } = await noticeOf(config, catalogue);
  if (problems.length > 0) throw catalogueErrorOf(file, problems);
  const { types, prices } = catalogue;
  const days = prices.map(({ from }) => from).join(", ");
  console.log(`${file} is in order: ${types.map(({ id }) => id).join(", ")}; prices from ${days}`);
  if (unknown) console.log(`Whether a raise has its 30 days' notice was not checked. ${unknown}`);
}

/** Against what customers were shown, which only the server's database knows. */
async function noticeOf(config: Config, catalogue: Catalogue) {
  try {
    return { problems: await withDatabase(config, (db) => checkNotice(db, catalogue)) };
  } catch (error) {
    const isAbsent = [EmbeddedDatabaseError, ConfigError, SchemaError].some((kind) => error instanceof kind);
    if (isAbsent) return { problems: [], unknown: (error as Error).message };
    throw error;
  }
}
