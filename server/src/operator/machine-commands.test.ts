import { sql } from "kysely";
import { expect, test } from "vitest";
import { version } from "../config/config.ts";
import { openDatabase } from "../database/database.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { emptyDatabase } from "../testing/server-process.ts";
import { commandRunner } from "./testing/run-command.ts";

test("migrate makes an empty database fit this version, twice, and refuses a newer one in a sentence", async () => {
  const { url: DATABASE_URL, connection } = await emptyDatabase();
  const operate = await commandRunner(undefined, { DATABASE_URL });
  const done = { code: 0, stdout: `The database fits version ${version}.`, stderr: "" };
  for (let time = 0; time < 2; time++) expect(await operate("migrate")).toEqual(done);
  const { db, close } = await openDatabase(connection, silentLogger, { keep: true });
  await sql`insert into migrations (name) values ('9999_future.sql')`.execute(db);
  await close();
  expect(await operate("migrate")).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: expect.stringMatching(/^The database was migrated by a newer version \(9999_future\.sql\): [^\n]+$/),
  });
});
