import type { Catalogue } from "@berth/contract";
import { acceptWithoutNotice, checkNotice } from "../catalogue/accept-catalogue.ts";
import { removedTypes } from "../catalogue/removed-types.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { catalogueErrorOf, readCatalogueFile } from "../config/read-catalogue-file.ts";
import { SchemaError } from "../database/database.ts";
import { EmbeddedDatabaseError } from "../database/embedded-database-error.ts";
import type { Command, Options } from "./parse-command.ts";
import { authorOf, withDatabase } from "./with-database.ts";
import { withStoppedDatabase } from "./with-stopped-database.ts";

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
  {
    name: "catalogue accept",
    args: ["FILE"],
    options: { reason: "TEXT" },
    about:
      "lets the next start with this catalogue pass without 30 days' notice, to mend a mistake; the server may be stopped",
    example: "catalogue accept catalogue.json --reason 'A zero was missing since this morning'",
    run: accept,
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

async function accept(config: Config, [file = ""]: readonly string[], options: Options): Promise<void> {
  const catalogue = readCatalogueFile(file);
  await withStoppedDatabase(config, (db) => acceptWithoutNotice(db, catalogue, file, authorOf(options)));
  console.log(`The next start with ${file} passes. Nobody was told: announce tells your customers`);
}

/** Against what customers have and were shown, which only the server's database knows. */
async function noticeOf(config: Config, catalogue: Catalogue) {
  try {
    return {
      problems: await withDatabase(config, async (db) => [
        ...(await removedTypes(db, catalogue)),
        ...(await checkNotice(db, catalogue)),
      ]),
    };
  } catch (error) {
    const isAbsent = [EmbeddedDatabaseError, ConfigError, SchemaError].some((kind) => error instanceof kind);
    if (isAbsent) return { problems: [], unknown: (error as Error).message };
    throw error;
  }
}
