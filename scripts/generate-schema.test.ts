import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testDatabase } from "../server/src/database/testing.ts";
import { schemaFiles } from "./generate-schema.ts";

test("schema.sql and tables.ts match the migrations", async () => {
  await using database = await testDatabase();
  for (const [name, text] of Object.entries(await schemaFiles(database.db))) {
    const path = `server/src/database/${name}`;
    expect(
      readFileSync(path, "utf8") === text,
      `${path} is stale: run \`npm run schema\` and commit what it writes`,
    ).toBe(true);
  }
});
