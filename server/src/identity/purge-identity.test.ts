import { sql } from "kysely";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { purgeIdentity } from "./purge-identity.ts";
import { outcome, password, testInstallation, tokensOf } from "./testing/test-installation.ts";

const { db, setup } = await testInstallation();

test("exactly the expired rows are deleted", async () => {
  const { identity, email, user, tokens } = await setup();
  const ended = tokensOf(await identity.signIn(email, password, {}));
  const [endedId = ""] = ended.refreshToken.split(".");
  await db
    .updateTable("identity_session")
    .set({ revoked_at: sql`now() - interval '61 days'` })
    .where("id", "=", endedId)
    .execute();
  await identity.createCustomToken(user.uid);
  await db
    .updateTable("identity_code")
    .set({ expires_at: sql`now() - interval '2 days'` })
    .where("user_id", "=", user.uid)
    .execute();
  const live = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  await db
    .insertInto("identity_key")
    .values({
      kid: newId(),
      alg: "RS256",
      public_jwk: "{}",
      private_sealed: Buffer.alloc(40),
      not_after: sql`now() - interval '2 days'`,
    })
    .execute();
  for (const [hash, expires_at] of [
    ["over", sql<Date>`now() - interval '1 second'`],
    ["open", sql<Date>`now() + interval '1 day'`],
  ] as const) {
    const row = { hash: Buffer.from(hash), user_id: user.uid, expires_at };
    await db.insertInto("identity_trusted_browsers").values(row).execute();
    await db.insertInto("identity_spent_challenges").values({ hash: row.hash, expires_at }).execute();
    await db
      .insertInto("identity_pending_sign_ins")
      .values({ ...row, sign_in_provider: "password" })
      .execute();
  }
  type Table = "identity_session" | "identity_code" | "identity_trusted_browsers" | "identity_pending_sign_ins";
  const count = async (table: Table) =>
    (await db.selectFrom(table).select("user_id").where("user_id", "=", user.uid).execute()).length;
  const windows = ["-1 second", "1 minute"].map((ends) => ({
    key: Buffer.from(ends),
    count: 1,
    ends_at: sql<Date>`now() + ${ends}::interval`,
  }));
  await db.insertInto("attempt_windows").values(windows).execute();
  await purgeIdentity(db);
  const left = await db.selectFrom("attempt_windows").select("key").execute();
  expect(left.map(({ key }) => String(key))).toContain("1 minute");
  expect(left.map(({ key }) => String(key))).not.toContain("-1 second");
  expect([await count("identity_session"), await count("identity_code")]).toEqual([1, 1]);
  expect([await count("identity_trusted_browsers"), await count("identity_pending_sign_ins")]).toEqual([1, 1]);
  expect(await db.selectFrom("identity_spent_challenges").selectAll().execute()).toHaveLength(1);
  expect(await db.selectFrom("identity_key").select("kid").execute()).toHaveLength(1);
  expect(await outcome(identity.readResetCode(live))).toBe("ok");
  expect(await outcome(identity.refresh(tokens.refreshToken))).toBe("ok");
});
