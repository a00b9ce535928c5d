import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { changeFlags } from "../identity/flags.ts";
import type { NoticeCause } from "../mail/mail-flag.ts";
import { announcer } from "./announcer.ts";
import { listNotifications } from "./notifications.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  await db.insertInto("profiles").values({ user_id: "ada", email: "ada@uni.example", name: "Ada" }).execute();
  const announce = announcer({ appUrl: "https://berth.example", brandName: "Berth" });
  return {
    db,
    tell: (cause: NoticeCause, change: { userId?: string; link?: string | null } = {}) =>
      db.transaction().execute((tx) =>
        announce(tx, {
          userId: "ada",
          cause,
          title: `About ${cause}`,
          body: "Words.",
          link: "/environments",
          ...change,
        }),
      ),
    mails: () => db.selectFrom("mails").selectAll().orderBy("created_at").execute(),
  };
}

test("bell and mail, each once however often the notice is announced", async () => {
  const { db, tell, mails } = await setup();
  await tell("ready:1");
  await tell("ready:1");
  expect((await listNotifications(db, "ada")).unread).toBe(1);
  const sent = await mails();
  expect(sent).toEqual([expect.objectContaining({ recipient: "ada@uni.example", subject: "About ready:1" })]);
  expect(sent[0]?.body_text).toContain("https://berth.example/environments");
  expect(sent[0]?.body_text).toContain("https://berth.example/settings?tab=notifications");
});

test.each([
  ["emailNotifications", ["expires:1:x:1h", "ready:1", "ended:1", "session:1:24h", "bonus:1"]],
  ["billingAlerts", ["refund:1", "refunded:1", "refund-returned:1"]],
  ["securityAlerts", ["sign-in-copied:1"]],
] as const)("without %s the bell still tells, and only those mails stay away (G49)", async (flag, causes) => {
  const { db, tell, mails } = await setup();
  await changeFlags(db, "ada", { [flag]: false });
  for (const cause of causes) await tell(cause);
  expect((await listNotifications(db, "ada")).unread).toBe(causes.length);
  expect(await mails()).toEqual([]);
  await changeFlags(db, "ada", { [flag]: true });
  for (const cause of causes) await tell(`${cause}:again`);
  expect(await mails()).toHaveLength(causes.length);
});

test("two users with the same cause both get their mail, one without a profile none", async () => {
  const { db, tell, mails } = await setup();
  await db.insertInto("profiles").values({ user_id: "ben", email: "ben@uni.example" }).execute();
  for (const userId of ["ada", "ben", "nobody"]) await tell("drain:1", { userId, link: null });
  expect((await mails()).map(({ recipient }) => recipient).toSorted()).toEqual(["ada@uni.example", "ben@uni.example"]);
});
