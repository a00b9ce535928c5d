import { sql } from "kysely";
import { expect, test } from "vitest";
import { purgeIdentity } from "../purge-identity.ts";
import { newEmail } from "../testing/identity.suite.ts";
import { password, testInstallation } from "../testing/test-installation.ts";

const { db, start } = await testInstallation();

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36";

async function setup() {
  const notices: { title: string; body: string }[] = [];
  const identity = start({ announce: async (_tx, { title, body }) => void notices.push({ title, body }) });
  const email = newEmail();
  const { uid } = await identity.createUser({ email, password });
  const signIn = (browser: string | undefined, ip = "203.0.113.7", userAgent = chrome) =>
    identity.signIn(email, password, { userAgent, ip, browser });
  const age = (days: number) =>
    db
      .updateTable("identity_known_browsers")
      .set({ last_used_at: sql`now() - ${`${days} days`}::interval` })
      .where("user_id", "=", uid)
      .execute();
  return { notices, identity, uid, signIn, age };
}

test("G427 the first sign-in is told nobody, each further browser once, with device and network, from wherever it signs in", async () => {
  const { notices, signIn } = await setup();
  await signIn("first");
  await signIn("first", "198.51.100.9");
  expect(notices).toEqual([]);
  await Promise.all([signIn("second"), signIn("second"), signIn("second")]);
  expect(notices).toEqual([
    {
      title: "New sign-in: Chrome on Windows",
      body: expect.stringMatching(
        /^Chrome on Windows signed in to your account from 203\.0\.113\.x on .+ UTC, for the first time in 90 days\. If it was not you, change your password now: /,
      ),
    },
  ]);
  await signIn("second", "2001:db8::7");
  expect(notices).toHaveLength(1);
  await signIn("third", "2001:db8:1:2:3:4:5:6");
  expect(notices[1]?.body).toContain("from 2001:db8:1:2");
  expect(notices[1]?.body).not.toContain(":6");
});

test("G427 after 90 days without it a browser is new again; a program is known by its name; another account's is nobody's", async () => {
  const { notices, signIn, age, identity, uid } = await setup();
  await signIn("first");
  await signIn(undefined, "192.0.2.1", "curl/8.5.0");
  await signIn(undefined, "192.0.2.200", "curl/8.5.0");
  expect(notices.map(({ title }) => title)).toEqual(["New sign-in: curl"]);
  await age(89);
  await signIn("first");
  expect(notices).toHaveLength(1);
  await age(91);
  await purgeIdentity(db);
  await signIn("first");
  await signIn("first");
  expect(notices).toHaveLength(2);
  const custom = await identity.createCustomToken(uid);
  await identity.signInWithCustomToken(custom, { userAgent: chrome, browser: "second" });
  expect(notices).toHaveLength(3);
  const other = await setup();
  await other.signIn("of nobody");
  await other.signIn("first");
  expect(other.notices, "first is known of another account").toHaveLength(1);
});

test("G427 with a second factor it is told once the code was right, and what is stored is no token", async () => {
  const { notices, signIn, identity, uid } = await setup();
  await signIn("a token of the first browser");
  await identity.secondFactors.begin(uid);
  await db
    .updateTable("identity_second_factors")
    .set({ confirmed_at: sql`now()` })
    .where("user_id", "=", uid)
    .execute();
  await signIn("second");
  expect(notices, "a half sign-in").toEqual([]);
  const rows = await db.selectFrom("identity_known_browsers").select("hash").where("user_id", "=", uid).execute();
  expect(rows.map(({ hash }) => hash.length)).toEqual([32]);
});
