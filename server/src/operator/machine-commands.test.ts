import { defaultCatalogue, type PriceVersion } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { acceptCatalogue } from "../catalogue/accept-catalogue.ts";
import { changedCatalogue } from "../catalogue/testing/changed-catalogue.ts";
import { version } from "../config/config.ts";
import { writeCatalogue } from "../config/testing/write-catalogue.ts";
import { migrationNames, openDatabase } from "../database/database.ts";
import { checkSecret, installationOf } from "../installation/installation.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { databaseWithoutTables } from "../testing/server-process.ts";
import { commandRunner } from "./testing/run-command.ts";
import { operator } from "./testing/run-operator.ts";

const dearer = (version: PriceVersion) => void Object.assign(version.rows[0] ?? {}, { hourly: 0.3 });
const raised = { ...defaultCatalogue, prices: changedCatalogue("2026-01-01", dearer).prices.slice(1, 2) };

test("migrate makes an empty database fit this version, twice, and refuses a newer one in a sentence", async () => {
  const { url: DATABASE_URL, connection } = await databaseWithoutTables();
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

test("migrate refuses what a start would, before it migrates, with a code of its own (G210)", async () => {
  const { url: DATABASE_URL, connection } = await databaseWithoutTables();
  const IDENTITY_SECRET = "the secret of the installation, long enough";
  const migrate = (env: Readonly<Record<string, string>>) =>
    operator(["migrate"], { DATABASE_URL, IDENTITY_SECRET, ...env });
  const refused = (reason: RegExp) => ({ code: 78, stdout: "", stderr: expect.stringMatching(reason) });

  expect(await migrate({ PAYMENTS: "razorpay" })).toEqual(
    refused(/^The settings do not fit together:\n {2}- PAYMENTS/),
  );
  const { db, close } = await openDatabase(connection, silentLogger);
  onTestFinished(close);
  await installationOf(db);
  await checkSecret(db, Buffer.from(IDENTITY_SECRET), { alone: false });
  const newest = sql`delete from migrations where name = (select max(name) from migrations)`;
  await newest.execute(db);
  expect(await migrate({ IDENTITY_SECRET: "another secret of 32 characters or more" })).toEqual(
    refused(/^The servers of this database have another secret/),
  );
  await acceptCatalogue(db, { catalogue: defaultCatalogue, catalogueFile: "catalogue.json" });
  const user = { id: "ada", email: "ada@uni.example", email_key: "ada@uni.example" };
  await db.insertInto("identity_user").values(user).execute();
  const { file: CATALOGUE } = writeCatalogue(raised);
  expect(await migrate({ CATALOGUE })).toEqual(refused(/^CATALOGUE: .*prices\[0\]\.rows\[0\]\.hourly/));
  const { rows } = await sql<{ count: number }>`select count(*) from migrations`.execute(db);
  expect(rows[0]?.count, "nothing was migrated").toBe((await migrationNames()).length - 1);
});

test("migrate ends with 1 where the database does not answer, so that the chart tries again (G210)", async () => {
  expect(await operator(["migrate"], { DATABASE_URL: "postgres://berth:hidden@127.0.0.1:9/berth" })).toEqual({
    ...{ code: 1, stdout: "" },
    stderr: "The database of DATABASE_URL cannot be reached: connect ECONNREFUSED 127.0.0.1:9\n",
  });
});
