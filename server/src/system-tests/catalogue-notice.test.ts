import { rmSync } from "node:fs";
import { type Catalogue, defaultCatalogue } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { acceptCatalogue } from "../catalogue/accept-catalogue.ts";
import { changedCatalogue, dayIn } from "../catalogue/testing/changed-catalogue.ts";
import { writeCatalogue } from "../config/testing/write-catalogue.ts";
import { testDatabase } from "../database/testing.ts";
import { databaseUrl } from "../operator/testing/run-operator.ts";
import { dataFolder, start } from "../testing/server-process.ts";

function fileOf(catalogue: Catalogue): string {
  const { file, folder } = writeCatalogue(catalogue);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return file;
}

test("a server announces the raise of its catalogue, and does not start with one that comes too soon (G150, G151)", async () => {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await db.insertInto("identity_user").values({ id: "ada", email: "ada", email_key: "ada" }).execute();
  await acceptCatalogue(db, { catalogue: defaultCatalogue, catalogueFile: "shown.json" });
  const raised = (days: number) =>
    fileOf(changedCatalogue(dayIn(days), ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 0.3 })));
  const env = { DATA_DIR: dataFolder(), DATABASE_URL: await databaseUrl(db) };

  const server = start({ ...env, CATALOGUE: raised(40) });
  await server.url();
  const titles = async () => (await db.selectFrom("notifications").select("title").execute()).map(({ title }) => title);
  await expect.poll(titles).toEqual([expect.stringMatching(/^Prices change on /)]);
  server.child.kill("SIGTERM");
  expect(await server.ended).toBe(0);

  const early = start({ ...env, CATALOGUE: raised(10) });
  expect([await early.ended, early.said.out]).toEqual([1, ""]);
  expect(early.said.err).toMatch(
    /^CATALOGUE: .*catalogue\.json, line \d+: prices\[1\]\.rows\[0\]\.hourly raises 1 GPU/,
  );
});
