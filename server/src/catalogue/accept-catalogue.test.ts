import { rmSync } from "node:fs";
import { type Catalogue, defaultCatalogue, type PriceVersion } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../config/config.ts";
import { writeCatalogue } from "../config/testing/write-catalogue.ts";
import { testDatabase } from "../database/testing.ts";
import { insertEnvironment } from "../gateway/testing/insert-environment.ts";
import { acceptCatalogue } from "./accept-catalogue.ts";
import { changedCatalogue, dayIn } from "./testing/changed-catalogue.ts";

async function setup({ accounts = 1 } = {}) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const signUp = (id: string) => db.insertInto("identity_user").values({ id, email: id, email_key: id }).execute();
  for (let n = 0; n < accounts; n++) await signUp(`user-${n}`);
  return {
    db,
    signUp,
    /** A start with this catalogue in a file. */
    start(catalogue: Catalogue) {
      const { file, folder } = writeCatalogue(catalogue);
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return acceptCatalogue(db, { catalogue, catalogueFile: file });
    },
    startWithout: () => acceptCatalogue(db, { catalogue: defaultCatalogue, catalogueFile: undefined }),
    accepted: () => db.selectFrom("accepted_catalogue").selectAll().executeTakeFirst(),
    announced: async () =>
      (await db.selectFrom("catalogue_changes").select("title").execute()).map(({ title }) => title),
  };
}

const course = { id: "course", name: "Course", about: "All of it", packages: [], recipe: "jupyter" };
const withCourse = { ...defaultCatalogue, types: [...defaultCatalogue.types, course] };

test("a catalogue without a type that an environment needs to start again is refused; after its end it passes", async () => {
  const { db, start } = await setup({ accounts: 0 });
  await start(withCourse);
  await db.insertInto("hosts").values({ id: "local", kind: "fake" }).execute();
  const { id } = await insertEnvironment(db, { status: "stopped", banked: 60 });
  const become = (set: object) => db.updateTable("environments").set(set).where("id", "=", id).execute();
  await become({ container_type: "course" });
  await expect(start(defaultCatalogue)).rejects.toThrow(
    /^CATALOGUE: .*catalogue\.json, line 2: types lacks course, which 1 environment needs to start again: keep it until/,
  );
  await start(withCourse);
  await become({ status: "terminated", terminated_at: new Date() });
  await start(defaultCatalogue);
});

const dearer = (version: PriceVersion) => void Object.assign(version.rows[0] ?? {}, { hourly: 0.3 });
const raisedNow = {
  ...defaultCatalogue,
  prices: [{ ...changedCatalogue("2026-01-01", dearer).prices[1] }],
} as Catalogue;

test("a raise that begins in less than 30 days is refused with line and field, and nothing changes (G150)", async () => {
  const { start, accepted, announced } = await setup();
  await start(defaultCatalogue);
  const before = await accepted();
  const cases: readonly (readonly [Catalogue, string])[] = [
    [raisedNow, "prices[0].rows[0].hourly"],
    [changedCatalogue(dayIn(29), dearer), "prices[1].rows[0].hourly"],
    [{ ...defaultCatalogue, terms: [{ from: dayIn(3), summary: "Less." }] }, "terms[0].from"],
  ];
  for (const [bad, field] of cases) {
    const refusal = await start(bad).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect((refusal as Error).message).toMatch(/^CATALOGUE: .*catalogue\.json, line \d+: /);
    expect((refusal as Error).message).toContain(`: ${field} `);
  }
  expect([await accepted(), await announced()]).toEqual([before, []]);
});

test("a raise with its notice, and terms, are accepted and queued once, however often the server starts (G151)", async () => {
  const { start, announced } = await setup();
  await start(defaultCatalogue);
  const terms = [{ from: dayIn(40), summary: "Sessions last 100 hours." }];
  const next = { ...changedCatalogue(dayIn(32), dearer), terms };
  await start(next);
  await Promise.all([start(next), start(next)]);
  expect((await announced()).toSorted()).toEqual([
    expect.stringMatching(/^Prices change on \w+ \d+, \d{4}$/),
    expect.stringMatching(/^The terms change on \w+ \d+, \d{4}$/),
  ]);
});

test("the first file is compared with the built-in catalogue that was sold before it; without accounts nothing is a raise (G150)", async () => {
  const first = await setup();
  await expect(first.start(raisedNow), "a database of before this was recorded").rejects.toThrow("raises 1 GPU");
  await first.startWithout();
  expect(await first.accepted()).toMatchObject({ prices: defaultCatalogue.prices });
  await expect(first.start(raisedNow)).rejects.toThrow(
    /prices\[0\]\.rows\[0\]\.hourly raises 1 GPU for 1 hour from 0\.20 to 0\.30 USD[\s\S]*To mend a mistake without notice: npm run operator -- catalogue accept \S+catalogue\.json --reason TEXT$/,
  );
  await first.start(changedCatalogue(dayIn(31), dearer));
  const empty = await setup({ accounts: 0 });
  await empty.start(defaultCatalogue);
  await empty.start(raisedNow);
});

test("a lower price begins at once; going back up, also to the built-in catalogue, is a raise", async () => {
  const { start, startWithout, signUp, announced } = await setup({ accounts: 0 });
  await start(raisedNow);
  await signUp("ada");
  const cheap = changedCatalogue("2026-01-01", (version) => void Object.assign(version.rows[0] ?? {}, { hourly: 0.1 }));
  await start({ ...cheap, prices: cheap.prices.slice(1) });
  expect(await announced()).toEqual([]);
  await expect(startWithout()).rejects.toThrow(
    "CATALOGUE: the built-in catalogue: prices[0].rows[0].hourly raises 1 GPU for 1 hour from 0.10 to 0.20 USD",
  );
});
