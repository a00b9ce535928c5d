import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openChanges } from "../database/changes.ts";
import { testDatabase } from "../database/testing.ts";
import type { Announce } from "../environments/notice.ts";
import { recordLog } from "../logging/testing/record-log.ts";
import { announcer } from "../notifications/announcer.ts";
import { startAnnouncingChanges } from "./start-announcing-changes.ts";

const change = {
  id: "prices:2027-02-01:abc",
  title: "Prices change on February 1, 2027",
  body: "From then on: more.",
  link: "/billing",
};
const announce = announcer({ appUrl: "https://berth.example", brandName: "Berth" });

async function setup(users: readonly string[]) {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const changes = await openChanges(database);
  const { log, lines } = recordLog();
  for (const id of users) {
    const email = `${id}@uni.example`;
    await db.insertInto("identity_user").values({ id, email, email_key: email }).execute();
    await db.insertInto("profiles").values({ user_id: id, email }).execute();
  }
  const notices = async () => {
    const rows = await db.selectFrom("notifications").select(["user_id", "title", "link"]).orderBy("user_id").execute();
    return rows.map(({ user_id, title, link }) => `${user_id} ${title} ${link}`);
  };
  return {
    db,
    lines,
    notices,
    mails: async () =>
      (await db.selectFrom("mails").select("recipient").orderBy("recipient").execute()).map(
        ({ recipient }) => recipient,
      ),
    queue: () => db.insertInto("catalogue_changes").values(change).execute(),
    row: () => db.selectFrom("catalogue_changes").selectAll().executeTakeFirstOrThrow(),
    start(own: Announce = announce, batchSize = 2) {
      const loop = startAnnouncingChanges({ db, changes, announce: own, log, batchSize });
      onTestFinished(loop.stop);
      return loop;
    },
  };
}

const all = (ids: readonly string[]) => ids.map((id) => `${id} ${change.title} /billing`);

test("every account of its time gets bell and mail once, in batches, even suspended and without other mails (G151)", async () => {
  const { db, queue, row, start, notices, mails } = await setup(["ada", "ben", "cara", "dan", "eve"]);
  await db.updateTable("identity_user").set({ disabled: true }).where("id", "=", "eve").execute();
  await db.insertInto("user_flags").values({ user_id: "ben", email_notifications: false }).execute();
  await queue();
  await sql`insert into identity_user (id, email, email_key, created_at)
    values ('later', 'later', 'later', now() + interval '1 second')`.execute(db);
  const [one, other] = [start(), start()];
  await expect.poll(async () => (await row()).due_at).toBeNull();
  const everybody = ["ada", "ben", "cara", "dan", "eve"];
  expect(await notices()).toEqual(all(everybody));
  expect(await mails()).toEqual(everybody.map((id) => `${id}@uni.example`));
  await sql`update catalogue_changes set due_at = now(), announced_until = ''`.execute(db);
  for (const loop of [one, other]) loop.trigger();
  await expect.poll(async () => (await row()).due_at).toBeNull();
  expect(await notices()).toEqual(all(everybody));
  expect(await mails()).toHaveLength(5);
});

test("a batch that fails is repeated as a whole, and those before it stay", async () => {
  const { db, queue, row, start, notices, lines } = await setup(["ada", "ben", "cara", "dan"]);
  let isBroken = true;
  const failing: Announce = async (tx, notice) => {
    await announce(tx, notice);
    if (isBroken && notice.userId === "dan") throw new Error("full");
  };
  await queue();
  const loop = start(failing);
  await expect.poll(async () => (await row()).last_error ?? "").toContain("full");
  expect(await notices()).toEqual(all(["ada", "ben"]));
  expect(await row()).toMatchObject({ announced_until: "ben" });
  expect(lines.map(({ event }) => event)).toContain("catalogue.not_announced");
  isBroken = false;
  await sql`update catalogue_changes set due_at = now()`.execute(db);
  loop.trigger();
  await expect.poll(async () => (await row()).due_at).toBeNull();
  expect(await notices()).toEqual(all(["ada", "ben", "cara", "dan"]));
});

test("without accounts it is done at once", async () => {
  const { queue, row, start, notices } = await setup([]);
  await queue();
  start();
  await expect.poll(async () => (await row()).due_at).toBeNull();
  expect(await notices()).toEqual([]);
});
