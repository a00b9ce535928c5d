import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { onlyWhereRunsAre } from "./only-where-runs-are.ts";

test("an API on another machine than the workers has no logs and files to show, rather than empty ones", async () => {
  const database = await testDatabase();
  const fake = fakeDriver();
  onTestFinished(async () => {
    await fake.close();
    await database.close();
  });
  const driver = onlyWhereRunsAre(database.db, fake);
  const { signal } = new AbortController();
  const read = async () => {
    for await (const _ of driver.logs("any", { tail: 1, follow: false, signal })) throw new Error("there is none");
    for await (const bytes of driver.archive("home", signal)) return bytes.length;
    return 0;
  };
  expect(await read()).toBeGreaterThan(0);
  const worker = { id: "worker", machine: await fake.machineId(), host_name: "gpu-1" };
  await database.db.insertInto("workers").values(worker).execute();
  expect(await read()).toBeGreaterThan(0);
  await database.db.updateTable("workers").set({ machine: "another" }).execute();
  await expect(read()).rejects.toMatchObject({ code: "unavailable" });
  await expect(driver.archive("home", signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "unavailable",
  });
});
