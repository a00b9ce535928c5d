import { defaultCatalogue } from "@berth/contract";
import { expect, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { absentGpus } from "./absent-gpus.ts";

test("a GPU of the catalogue that no host reports is named, once hosts report GPUs", async () => {
  await using database = await testDatabase();
  const { db } = database;
  const catalogue = { ...defaultCatalogue, gpus: [...defaultCatalogue.gpus, { model: "A100", memoryGb: 80 }] };
  expect(await absentGpus(db, catalogue)).toEqual([]);
  const driver = fakeDriver({ gpus: 2 });
  await registerHost(db, "local", driver, 0);
  expect(await absentGpus(db, catalogue)).toEqual([
    "The catalogue names A100, which no host reports: pages name RTX 4070 instead.",
  ]);
  expect(await absentGpus(db, defaultCatalogue)).toEqual([]);
  await driver.close();
});
