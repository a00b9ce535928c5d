import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Identity } from "../identity.ts";

/** An identity provider under test. */
export interface IdentityUnderTest {
  readonly identity: Identity;
  /** The browser's two kinds of sign-in, through the provider's REST API; both return an ID token. */
  signIn(email: string, password: string): Promise<string>;
  signInWithCustomToken(token: string): Promise<string>;
}

export function newEmail(): string {
  return `user-${randomBytes(6).toString("hex")}@example.com`;
}

export function identitySuite(name: string, under: () => Promise<IdentityUnderTest>): void {
  const password = "first password 1";

  async function setup() {
    const tested = await under();
    const email = newEmail();
    const user = await tested.identity.createUser({ email, password, name: "Ann" });
    return { ...tested, email, user };
  }

  describe(`${name} as an identity provider`, () => {
    test("stores a user, found by id and by any spelling of the address", async () => {
      const { identity, email, user } = await setup();
      expect(user).toEqual({ uid: expect.any(String), email, emailVerified: false, name: "Ann", disabled: false });
      expect(await identity.getUser({ uid: user.uid })).toEqual(user);
      expect(await identity.getUser({ email: ` ${email.toUpperCase()}` })).toEqual(user);
      expect(await identity.getUser({ email: newEmail() })).toBeNull();
      await identity.deleteUser(user.uid);
      expect(await identity.getUser({ uid: user.uid })).toBeNull();
    });

    test("refuses a second user of an address, also of concurrent ones", async () => {
      const { identity, email } = await setup();
      await expect(identity.createUser({ email, password })).rejects.toMatchObject({ code: "EMAIL_EXISTS" });
      const twin = newEmail();
      const race = await Promise.allSettled(
        [twin, twin.toUpperCase(), ` ${twin}`].map((each) => identity.createUser({ email: each, password })),
      );
      expect(race.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of race)
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "EMAIL_EXISTS" });
    });

    test.each([
      ["INVALID_EMAIL", { email: "nobody", password }],
      ["INVALID_EMAIL", { email: "no\u0000body@example.com", password }],
      ["WEAK_PASSWORD", { email: newEmail(), password: "12345" }],
    ])("refuses to create: %s", async (code, input) => {
      const { identity } = await under();
      await expect(identity.createUser(input)).rejects.toMatchObject({ code });
    });

    test("returns a token with the user's claims, for a password and for a custom token", async () => {
      const { identity, email, user, signIn, signInWithCustomToken } = await setup();
      const custom = await signInWithCustomToken(await identity.createCustomToken(user.uid));
      for (const idToken of [await signIn(email, password), custom])
        expect(await identity.verifyIdToken(idToken, { checkRevoked: true })).toMatchObject({
          uid: user.uid,
          email,
          emailVerified: false,
          name: "Ann",
        });
    });

    test("verifies a password, and reveals nothing else", async () => {
      const { identity, email, user } = await setup();
      expect(await identity.verifyPassword(email, password)).toEqual({ uid: user.uid });
      const wrong = { code: "INVALID_LOGIN_CREDENTIALS" };
      await expect(identity.verifyPassword(email, "first password 2")).rejects.toMatchObject(wrong);
      await expect(identity.verifyPassword(newEmail(), password)).rejects.toMatchObject(wrong);
      for (const nobody of ["", "nobody", "no\u0000body@example.com", "\ud800@example.com"])
        await expect(identity.verifyPassword(nobody, password)).rejects.toMatchObject(wrong);
    });

    test("ends every sign-in on a password change, and on demand", async () => {
      const { identity, email, user, signIn } = await setup();
      const before = await signIn(email, password);
      expect(await identity.verifyIdToken(before, { checkRevoked: true })).toMatchObject({ uid: user.uid });
      await identity.updateUser(user.uid, { password: "second password 2" });
      await expect(identity.verifyIdToken(before, { checkRevoked: true })).rejects.toMatchObject({
        code: "TOKEN_REVOKED",
      });
      await expect(identity.verifyPassword(email, password)).rejects.toThrow("INVALID_LOGIN_CREDENTIALS");

      const after = await signIn(email, "second password 2");
      expect(await identity.verifyIdToken(after, { checkRevoked: true })).toMatchObject({ uid: user.uid });
      await identity.revokeSessions(user.uid);
      await expect(identity.verifyIdToken(after, { checkRevoked: true })).rejects.toMatchObject({
        code: "TOKEN_REVOKED",
      });
    });

    test("refuses a disabled user", async () => {
      const { identity, email, user, signIn } = await setup();
      const idToken = await signIn(email, password);
      await identity.updateUser(user.uid, { disabled: true });
      await expect(identity.verifyIdToken(idToken, { checkRevoked: true })).rejects.toThrow(
        /TOKEN_REVOKED|USER_DISABLED/,
      );
      await expect(identity.verifyPassword(email, password)).rejects.toThrow("USER_DISABLED");
    });

    test("creates a code for an existing user, null for an unknown one", async () => {
      const { identity, email } = await setup();
      expect(await identity.createActionCode("PASSWORD_RESET", email)).toMatch(/^[\w-]{20,}$/);
      expect(await identity.createActionCode("PASSWORD_RESET", newEmail())).toBeNull();
    });

    test.each(["", "x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.", "\u0000", "\ud800.\ud800.\ud800"])(
      "refuses the token %j",
      async (token) => {
        const { identity } = await under();
        await expect(identity.verifyIdToken(token)).rejects.toMatchObject({ code: "INVALID_ID_TOKEN" });
      },
    );
  });
}
