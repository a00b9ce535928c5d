import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { readAudit } from "../../audit/read-audit.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { startPreparingImages } from "../../environments/hosts/start-preparing-images.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { testConsole } from "./testing/test-console.ts";

const [today] = defaultCatalogue.prices;
const version = (from: string, hourly: number) => ({ ...today, from, rows: [{ gpus: 1, hourly }], hours: [1, 6] });

/** A catalogue of one type with prices of the past, of now and of a day to come. */
function catalogueFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-catalogue-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const catalogue = {
    types: [{ id: "lab", name: "Our lab", about: "Everything", packages: [], recipe: "jupyter" }],
    gpus: [{ model: "A1", memoryGb: 24 }],
    prices: [version("2020-01-01", 0.1), version("2020-02-01", 0.2), version("2999-01-01", 0.3)],
    terms: [{ from: "2999-02-01", summary: "Idle environments stop after a day." }],
    limits: { gpus: 4 },
  };
  const file = join(folder, "catalogue.json");
  writeFileSync(file, JSON.stringify(catalogue));
  return file;
}

test("what is sold, for how much, from which day, and where each type is prepared", async () => {
  const file = catalogueFile();
  const { db, enrol } = await testConsole({ env: { CATALOGUE: file } });
  await registerHost(db, "local", fakeDriver({}), 1);
  const unprepared = { host_id: "local", container_type: "lab", message: "npm run images -- jupyter prepares it" };
  await db
    .insertInto("host_images")
    .values([
      { ...unprepared, state: "unavailable" },
      { ...unprepared, container_type: "gone", state: "ready" },
    ])
    .execute();
  const at = new Date();
  const change = { title: "Prices change", body: "From 2999-01-01", link: "/billing", created_at: at };
  await db
    .insertInto("catalogue_changes")
    .values([
      { ...change, id: "a", due_at: at },
      { ...change, id: "b", title: "Terms change", created_at: new Date(at.getTime() - 1000), due_at: null },
    ])
    .execute();
  const own = await enrol();
  expect(await own.must("GET", "catalogue")).toMatchObject({
    file,
    announced: [
      { title: "Prices change", body: "From 2999-01-01", created_at: at.toISOString(), done: false },
      { title: "Terms change", done: true },
    ],
    commands: [expect.stringContaining(`catalogue check ${file}`), expect.stringContaining(`CATALOGUE=${file}`)],
    types: [
      {
        ...{ id: "lab", name: "Our lab", recipe: "jupyter" },
        images: [{ host_id: "local", state: "unavailable", message: unprepared.message }],
      },
    ],
    prices: [
      { from: "2020-01-01", state: "past" },
      { from: "2020-02-01", state: "in_force", rows: [{ gpus: 1, hourly_cents: 20, monthly_cents: null }] },
      { from: "2999-01-01", state: "coming", rows: [{ hourly_cents: 30 }], hours: [1, 6] },
    ],
    terms: [{ from: "2999-02-01", summary: "Idle environments stop after a day." }],
    limits: { gpus: 4 },
    gpus: [{ model: "A1", memory_gb: 24 }],
  });
});

test("the built-in catalogue says how one's own is begun", async () => {
  const { enrol } = await testConsole();
  const own = await enrol();
  const { file, commands, prices, types } = await own.must("GET", "catalogue");
  expect([file, prices.length, types.length]).toEqual([null, 1, 3]);
  expect(commands[0]).toMatch(/^npm run --silent operator -- catalogue > catalogue\.json$/);
  expect(prices[0].currencies).toEqual([
    { code: "USD", rate_per_dollar: 100, round_minor: 1 },
    { code: "INR", rate_per_dollar: 8822, round_minor: 100 },
  ]);
});

test("a type that no host prepares by itself is prepared when an operator asks, once, with a reason (G101, G307)", async () => {
  const { db, enrol } = await testConsole();
  const driver: Driver = {
    ...fakeDriver({}),
    async prepare(_type, _progress, { asked = false } = {}) {
      if (!asked) throw new DriverError("no_image", "prepare pytorch prepares it");
    },
  };
  await registerHost(db, "local", driver, 1);
  await db.updateTable("hosts").set({ kind: "process" }).execute();
  const pass = async (state: string) => {
    const drivers = new Map([["local", driver]]);
    const loop = startPreparingImages({ db, drivers, log: silentLogger, types: ["pytorch"] });
    onTestFinished(() => loop.stop());
    await expect.poll(() => db.selectFrom("host_images").select("state").execute()).toEqual([{ state }]);
    await loop.stop();
  };
  await pass("unavailable");
  const own = await enrol();
  const body = { host: "local", reason: "Asked for by the class" };
  const shown = async () =>
    (await own.must("GET", "catalogue")).types.find(({ id }: { id: string }) => id === "pytorch");
  expect((await shown()).images).toMatchObject([{ state: "unavailable", can_prepare: true }]);
  expect(await own.must("POST", "catalogue/types/pytorch/prepare", body)).toMatchObject({
    message: "pytorch is prepared on local within a minute",
  });
  expect((await shown()).images).toMatchObject([{ state: "preparing", can_prepare: false }]);
  expect(await own.must("POST", "catalogue/types/pytorch/prepare", body)).toMatchObject({
    message: "pytorch is prepared already",
  });
  await pass("ready");
  expect((await readAudit(db, { limit: 1 }))[0]).toMatchObject({
    ...{ act: "type.prepare", subject_id: "pytorch", reason: body.reason },
  });

  await db.updateTable("hosts").set({ kind: "docker" }).execute();
  await db
    .updateTable("host_images")
    .set({ state: "unavailable", message: "npm run images -- pytorch builds it" })
    .execute();
  expect((await shown()).images).toMatchObject([{ can_prepare: false }]);
  const refused = await own.call("POST", "catalogue/types/pytorch/prepare", body);
  expect([refused.statusCode, refused.json().message]).toEqual([409, "npm run images -- pytorch builds it"]);
  expect((await own.call("POST", "catalogue/types/none/prepare", body)).statusCode).toBe(409);
});
