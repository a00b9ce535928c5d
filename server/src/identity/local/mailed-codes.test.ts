import { sql } from "kysely";
import { expect, test } from "vitest";
import { newEmail } from "../testing/identity.suite.ts";
import { outcome, testInstallation } from "../testing/test-installation.ts";

const { db, setup } = await testInstallation();

test("of four concurrent resets with one code one wins, and every sign-in and token ends", async () => {
  const { identity, tokens, email, user } = await setup();
  const custom = await identity.createCustomToken(user.uid);
  const code = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  expect(await identity.readResetCode(code)).toEqual({ email });
  const passwords = ["One word 11!", "Two word 22!", "Three word 33!", "Four word 44!"];
  const race = await Promise.all(passwords.map((next) => outcome(identity.resetPassword(code, next))));
  expect(race.toSorted()).toEqual(["INVALID_OOB_CODE", "INVALID_OOB_CODE", "INVALID_OOB_CODE", "ok"]);
  expect(await outcome(identity.verifyPassword(email, passwords[race.indexOf("ok")] ?? ""))).toBe("ok");
  expect(await outcome(identity.refresh(tokens.refreshToken))).toBe("TOKEN_EXPIRED");
  expect(await outcome(identity.signInWithCustomToken(custom, {}))).toBe("INVALID_CUSTOM_TOKEN");
  expect(await identity.getUser({ email })).toMatchObject({ emailVerified: true });
});

test("a reset password must meet the checklist, and a refused one does not use up the code", async () => {
  const { identity, email } = await setup();
  const code = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  expect(await outcome(identity.resetPassword(code, "nouppercase1!"))).toBe("WEAK_PASSWORD");
  expect(await outcome(identity.resetPassword(code, "Second password 2!"))).toBe("ok");
});

test("of three concurrent sign-ins with one custom token one wins", async () => {
  const { identity, user } = await setup();
  const token = await identity.createCustomToken(user.uid);
  const race = await Promise.all([1, 2, 3].map(() => outcome(identity.signInWithCustomToken(token, {}))));
  expect(race.toSorted()).toEqual(["INVALID_CUSTOM_TOKEN", "INVALID_CUSTOM_TOKEN", "ok"]);
});

test("a code is invalidated by a new address, by its expiry and by a newer code", async () => {
  const { identity, email, user } = await setup();
  const code = async (to: string) => (await identity.createActionCode("PASSWORD_RESET", to)) ?? "";
  const replaced = await code(email);
  const moved = await code(email);
  expect(await outcome(identity.readResetCode(replaced))).toBe("INVALID_OOB_CODE");
  const custom = await identity.createCustomToken(user.uid);
  const address = newEmail();
  await identity.updateUser(user.uid, { email: address });
  expect(await outcome(identity.readResetCode(moved))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.resetPassword(moved, "Second password 2!"))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.signInWithCustomToken(custom, {}))).toBe("INVALID_CUSTOM_TOKEN");

  const late = await code(address);
  await db
    .updateTable("identity_code")
    .set({ expires_at: sql`now() - interval '1 second'` })
    .where("user_id", "=", user.uid)
    .execute();
  expect(await outcome(identity.readResetCode(late))).toBe("EXPIRED_OOB_CODE");
  expect(await outcome(identity.resetPassword(late, "Second password 2!"))).toBe("EXPIRED_OOB_CODE");
});

test("a code is valid for its own kind only", async () => {
  const { identity, email, user } = await setup();
  const reset = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  const verify = (await identity.createActionCode("VERIFY_EMAIL", email)) ?? "";
  const custom = await identity.createCustomToken(user.uid);
  expect(await outcome(identity.confirmEmail(reset))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.resetPassword(verify, "Second password 2!"))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.resetPassword(custom, "Second password 2!"))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.signInWithCustomToken(reset, {}))).toBe("INVALID_CUSTOM_TOKEN");
  expect(await identity.confirmEmail(verify)).toMatchObject({ emailVerified: true });
});

test("only the code's hash is stored", async () => {
  const { identity, user } = await setup();
  const token = await identity.createCustomToken(user.uid);
  const row = await db
    .selectFrom("identity_code")
    .select("hash")
    .where("user_id", "=", user.uid)
    .executeTakeFirstOrThrow();
  for (const encoding of ["latin1", "hex", "base64url"] as const) expect(row.hash.toString(encoding)).not.toBe(token);
});
