import { type Catalogue, defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openChanges } from "../database/changes.ts";
import { testDatabase } from "../database/testing.ts";
import { recordLog } from "../logging/testing/record-log.ts";
import { announcer } from "../notifications/announcer.ts";
import { acceptCatalogue } from "./accept-catalogue.ts";
import { startAnnouncingChanges } from "./start-announcing-changes.ts";
import { changedCatalogue, dayIn } from "./testing/changed-catalogue.ts";

const raisedOn = (day: string, hourly = 0.3) =>
  changedCatalogue(day, (version) => void Object.assign(version.rows[0] ?? {}, { hourly }));
const raised = raisedOn(dayIn(40));

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const changes = await openChanges(database);
  const announce = announcer({ appUrl: "https://berth.example", brandName: "Berth" });
  const start = (catalogue: Catalogue) => acceptCatalogue(db, { catalogue, catalogueFile: "catalogue.json" });
  const open = () => db.selectFrom("catalogue_changes").select("id").where("due_at", "is not", null).execute();
  return {
    db,
    start,
    open,
    async signUp(id: string) {
      const email = `${id}@uni.example`;
      await db.insertInto("identity_user").values({ id, email, email_key: email }).execute();
      await db.insertInto("profiles").values({ user_id: id, email }).execute();
    },
    /** Announces what is queued. */
    async announced() {
      const loop = startAnnouncingChanges({ db, changes, announce, log: recordLog().log, batchSize: 1 });
      await expect.poll(open).toEqual([]);
      await loop.stop();
    },
    /** The first words of what an account was told, in order. */
    async heard(id: string) {
      const rows = await db
        .selectFrom("notifications")
        .select("title")
        .where("user_id", "=", id)
        .orderBy("id")
        .execute();
      return rows.map(({ title }) => title.split(" on ")[0]).toSorted();
    },
    mails: async () => await db.selectFrom("mails").select(["recipient", "body_text"]).execute(),
  };
}

test("G166 a raise that is taken back is taken back for those who were told, once; coming back it is announced again", async () => {
  const { start, signUp, announced, heard, mails } = await setup();
  await signUp("ada");
  await start(defaultCatalogue);
  await start(raised);
  await announced();
  await signUp("later");
  await start(defaultCatalogue);
  await Promise.all([start(defaultCatalogue), start(defaultCatalogue)]);
  await announced();
  expect(await heard("ada")).toEqual(["Prices change", "Taken back: Prices change"]);
  expect(await heard("later")).toEqual([]);
  const withdrawals = (await mails()).filter(({ body_text }) => body_text.includes("is taken back"));
  expect(withdrawals).toEqual([{ recipient: "ada@uni.example", body_text: expect.stringContaining("$0.30") }]);
  await start(raised);
  await start(raised);
  await announced();
  expect(await heard("ada")).toEqual(["Prices change", "Prices change", "Taken back: Prices change"]);
  expect(await heard("later")).toEqual(["Prices change"]);
});

test("a raise that changes is taken back and announced as it is now, and one that nobody was told of is forgotten", async () => {
  const { start, open, signUp, announced, heard, mails } = await setup();
  await signUp("ada");
  await start(defaultCatalogue);
  await start(raised);
  await start(raisedOn(dayIn(50)));
  expect(await open()).toHaveLength(1);
  await announced();
  expect(await heard("ada")).toEqual(["Prices change"]);
  await start(raisedOn(dayIn(50), 0.25));
  await announced();
  expect(await heard("ada")).toEqual(["Prices change", "Prices change", "Taken back: Prices change"]);
  const texts = (await mails()).map(({ body_text }) => body_text).join("\n");
  expect(texts).toContain("What does change is in a notice of its own.");
});

test("a raise that is taken back while it is announced ends there, and those who were told hear of it", async () => {
  const { db, start, signUp, announced, heard } = await setup();
  for (const id of ["ada", "ben"]) await signUp(id);
  await start(defaultCatalogue);
  await start(raised);
  await sql`update catalogue_changes set announced_until = 'ada'`.execute(db);
  await start(defaultCatalogue);
  await announced();
  expect([await heard("ada"), await heard("ben")]).toEqual([["Taken back: Prices change"], []]);
});
