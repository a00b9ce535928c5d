import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import type { Command, Options } from "../parse-command.ts";
import { type Columns, printRows } from "../print-rows.ts";
import { withDatabase } from "../with-database.ts";

const shown = 50;

/** What the documentation lacks. */
export const docsCommands: readonly Command[] = [
  {
    name: "docs searches",
    args: [],
    options: { json: "" },
    about: `lists what the search of the documentation did not find in ninety days, the ${shown} most frequent`,
    example: "docs searches",
    run: list,
  },
];

async function list(config: Config, _: readonly string[], options: Options): Promise<void> {
  printRows(await withDatabase(config, readSearches), columns, options, "Every search has found something");
}

const columns: Columns<SearchRow> = {
  times: ({ count }) => count,
  last: ({ last_at }) => last_at,
  words: ({ words }) => words,
};

type SearchRow = Awaited<ReturnType<typeof readSearches>>[number];

async function readSearches(db: Db) {
  return await db
    .selectFrom("docs_searches")
    .select(["words", "count", "last_at"])
    .orderBy("count", "desc")
    .orderBy("last_at", "desc")
    .orderBy("words")
    .limit(shown)
    .execute();
}
