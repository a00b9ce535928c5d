import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { acceptCatalogue } from "../catalogue/accept-catalogue.ts";
import { changedCatalogue, dayIn } from "../catalogue/testing/changed-catalogue.ts";
import { readCatalogueFile } from "../config/read-catalogue-file.ts";
import { writeCatalogue } from "../config/testing/write-catalogue.ts";
import { openDatabase } from "../database/database.ts";
import { startEmbedded } from "../database/embedded/embedded.ts";
import { testDatabase } from "../database/testing.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { commandRunner } from "./testing/run-command.ts";

function fileOf(days: number) {
  const catalogue = changedCatalogue(dayIn(days), ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 0.3 }));
  const { file, folder } = writeCatalogue(catalogue);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return file;
}

test("catalogue check finds what the next start would refuse: a raise without 30 days' notice (G150)", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await db.insertInto("identity_user").values({ id: "ada", email: "ada", email_key: "ada" }).execute();
  await acceptCatalogue(db, { catalogue: defaultCatalogue, catalogueFile: "shown.json" });
  const run = await commandRunner(db);
  const [soon, later] = [fileOf(10), fileOf(40)];
  const refusal = await run("catalogue", "check", soon);
  expect([refusal.code, refusal.stdout]).toEqual([1, ""]);
  expect(refusal.stderr).toMatch(
    /^.*catalogue\.json, line \d+: prices\[1\]\.rows\[0\]\.hourly raises 1 GPU for 1 hour/,
  );
  expect(await run("catalogue", "check", later)).toMatchObject({
    code: 0,
    stdout: `${later} is in order: jupyter, pytorch, tensorflow; prices from 2026-01-01, ${dayIn(40)}`,
  });
});

test("catalogue accept lets a start without notice pass, for a reason that is recorded", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await db.insertInto("identity_user").values({ id: "ada", email: "ada", email_key: "ada" }).execute();
  await acceptCatalogue(db, { catalogue: defaultCatalogue, catalogueFile: "shown.json" });
  const run = await commandRunner(db);
  const soon = fileOf(10);
  expect(await run("catalogue", "accept", soon)).toMatchObject({ code: 1, stdout: "" });
  expect(await run("catalogue", "check", soon)).toMatchObject({ code: 1 });
  expect(await run("catalogue", "accept", soon, "--reason", "A zero was missing")).toMatchObject({
    code: 0,
    stdout: `The next start with ${soon} passes. Nobody was told: announce tells your customers`,
  });
  expect(await run("catalogue", "check", soon)).toMatchObject({ code: 0 });
  const acts = await db.selectFrom("audit").select(["act", "subject_id", "reason", "details"]).execute();
  expect(acts).toEqual([
    { act: "catalogue.accept", subject_id: soon, reason: "A zero was missing", details: { raises: 1 } },
  ]);
});

test("catalogue accept works while the server that refused the file is down", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "berth-accept-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const soon = fileOf(10);
  const asServer = async () => {
    const embedded = await startEmbedded({ directory: join(dataDir, "database"), fsync: false, log: silentLogger });
    const { db, close } = await openDatabase(embedded.connection, silentLogger);
    const first = { id: "ada", email: "ada", email_key: "ada" };
    await db
      .insertInto("identity_user")
      .values(first)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const started = acceptCatalogue(db, { catalogue: readCatalogueFile(soon), catalogueFile: soon });
    return started.finally(async () => {
      await close();
      await embedded.stop();
    });
  };
  const run = await commandRunner(undefined, { DATA_DIR: dataDir });
  expect((await run("catalogue", "accept", soon, "--reason", "x")).stderr).toContain("There is no database in");
  await expect(asServer()).rejects.toThrow("catalogue accept");
  expect(await run("catalogue", "accept", soon, "--reason", "A zero was missing")).toMatchObject({
    code: 0,
    stderr: "",
  });
  await asServer();
});

test("without the server's database the file alone is checked, and the command says so", async () => {
  const run = await commandRunner(undefined, { DATA_DIR: "/nowhere/berth" });
  const { code, stdout } = await run("catalogue", "check", fileOf(10));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /is in order: .*\nWhether a raise has its 30 days' notice was not checked\. There is no database in/,
  );
});
