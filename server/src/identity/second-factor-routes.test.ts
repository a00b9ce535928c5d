import { sql } from "kysely";
import { expect, test } from "vitest";
import { codeOf } from "../testing/factor-code.ts";
import { softwarePasskey } from "../testing/software-passkey.ts";
import { type TestUser, testApp } from "../testing/test-app.ts";

const password = "good password 1";
const wrong = "This code is not right, or it was used before";

async function setup() {
  const product = await testApp();
  const { app, db, call, must, signUp } = product;

  const dialect = (path: string, body: object) => call("POST", `/identity/${path}?key=local`, undefined, body);
  const token = (refresh_token: string) =>
    app.inject({
      method: "POST",
      url: "/identity/v1/token?key=local",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({ grant_type: "refresh_token", refresh_token }).toString(),
    });
  const begin = async ({ email }: TestUser, given = password) =>
    (await dialect("v1/accounts:signInWithPassword", { email, password: given, returnSecureToken: true })).json();
  const finish = (mfaPendingCredential: string, verificationCode: string) =>
    dialect("v2/accounts/mfaSignIn:finalize", { mfaPendingCredential, totpVerificationInfo: { verificationCode } });

  /** The app shows the next code, as after half a minute. */
  const waitForCode = () => db.updateTable("identity_second_factors").set({ last_step: null }).execute();

  async function enrol() {
    const user = await signUp();
    const path = `/settings/${user.id}/second-factor`;
    const { secret, picture } = await must("POST", path, user.token, { password });
    const { recovery_codes } = await must("POST", `${path}/confirm`, user.token, { code: codeOf(secret) });
    await waitForCode();
    return { user, path, secret, picture, recoveryCodes: recovery_codes as string[] };
  }

  return { ...product, dialect, token, begin, finish, waitForCode, enrol };
}

test("G398 with a factor no call of the sign-in gives a token for the password alone", async () => {
  const { routes, dialect, identity, call, token, begin, finish, signUp, must } = await setup();
  const user = await signUp();
  const other = await begin(user);
  const path = `/settings/${user.id}/second-factor`;
  const { secret } = await must("POST", path, user.token, { password });
  await must("POST", `${path}/confirm`, user.token, { code: codeOf(secret) });
  const mailed = async (kind: "PASSWORD_RESET" | "VERIFY_EMAIL") =>
    (await identity.createActionCode(kind, user.email)) ?? "";
  const { email } = user;
  /** What somebody with the password, an older sign-in and even the mails can send. */
  const calls: Readonly<Record<string, () => Promise<{ json(): object }>>> = {
    "POST /identity/v1/accounts::signInWithPassword": () =>
      dialect("v1/accounts:signInWithPassword", { email, password }),
    "POST /identity/v1/accounts::signInWithCustomToken": async () =>
      dialect("v1/accounts:signInWithCustomToken", { token: await identity.createCustomToken(user.id) }),
    "POST /identity/v2/accounts/mfaSignIn::finalize": async () =>
      finish((await begin(user)).mfaPendingCredential, password),
    "POST /identity/v1/accounts::update": async () =>
      dialect("v1/accounts:update", { idToken: other.idToken, password: "Another password 7!" }),
    "POST /identity/v1/accounts::lookup": () => dialect("v1/accounts:lookup", { idToken: other.idToken }),
    "POST /identity/v1/token": () => token(other.refreshToken),
    "GET /identity/.well-known/jwks.json": () => call("GET", "/identity/.well-known/jwks.json"),
    "POST /auth/signup": () => call("POST", "/auth/signup", undefined, { email, password }),
    "POST /auth/passkeys/sign-in/options": () => call("POST", "/auth/passkeys/sign-in/options", undefined, {}),
    "POST /auth/passkeys/sign-in": async () => {
      const { options } = (await call("POST", "/auth/passkeys/sign-in/options", undefined, {})).json();
      return call("POST", "/auth/passkeys/sign-in", undefined, { credential: softwarePasskey().use(options) });
    },
    "POST /identity/v1/accounts::resetPassword": async () =>
      dialect("v1/accounts:resetPassword", {
        oobCode: await mailed("PASSWORD_RESET"),
        newPassword: "Another password 7!",
      }),
  };
  const signing = routes
    .map(({ method, url }) => `${method} ${url}`)
    .filter(
      (route) => route.includes(" /identity/") || route.includes("/passkeys/sign-in") || route === "POST /auth/signup",
    );
  expect(Object.keys(calls).toSorted(), "each call has a row here").toEqual(signing.toSorted());
  for (const [name, ask] of Object.entries(calls)) {
    const reply = JSON.stringify((await ask()).json());
    expect(reply, name).not.toMatch(/idToken|id_token|refreshToken|refresh_token|access_token/);
  }
  const confirmed = await dialect("v1/accounts:update", { oobCode: await mailed("VERIFY_EMAIL") });
  expect(confirmed.json()).toEqual({ localId: user.id, email, emailVerified: true });
  expect(Object.keys(await begin(user, "Another password 7!")), "after a reset too").toEqual([
    ...["localId", "email", "mfaPendingCredential", "mfaInfo"],
  ]);
});

test("G398 a code of the app signs in, once; the other sign-ins ended when it was set up, and the owner is told", async () => {
  const { db, begin, finish, must, call, signUp, waitForCode } = await setup();
  const user = await signUp();
  const path = `/settings/${user.id}/second-factor`;
  const before = await begin(user);
  const state = () => must("GET", path, user.token);
  expect(await state()).toEqual({ status: "success", since: null, recovery_codes: 0, mode: "optional" });
  expect((await call("POST", path, user.token, { password: "wrong" })).json()).toMatchObject({
    code: "wrong_password",
  });
  const first = await must("POST", path, user.token, { password });
  const { secret, picture } = await must("POST", path, user.token, { password });
  expect(picture).toMatch(/^data:image\/svg\+xml;base64,/);
  const confirm = (code: string) => call("POST", `${path}/confirm`, user.token, { code });
  expect((await confirm(codeOf(first.secret))).json(), "of a secret that was replaced").toMatchObject({
    message: wrong,
  });
  expect((await begin(user)).idToken, "nothing changed till now").toBeDefined();
  expect((await confirm(codeOf(secret))).json().recovery_codes).toHaveLength(10);
  expect((await call("GET", "/auth/validate", before.idToken)).statusCode).toBe(401);
  expect(await state()).toMatchObject({ since: expect.stringMatching(/Z$/), recovery_codes: 10 });
  expect((await must("GET", `/settings/${user.id}`, user.token)).flags.twoFactorAuth).toBe(true);
  expect((await call("POST", path, user.token, { password })).json()).toMatchObject({ code: "action_not_allowed" });

  const { mfaPendingCredential: pending, mfaInfo } = await begin(user);
  expect(mfaInfo).toMatchObject([{ totpInfo: {}, mfaEnrollmentId: "totp" }]);
  expect((await finish(pending, codeOf(secret))).json().error.message, "the code of the set-up").toBe("INVALID_CODE");
  await waitForCode();
  const signedIn = await finish(pending, codeOf(secret));
  expect(signedIn.json()).toMatchObject({ localId: user.id, idToken: expect.any(String), expiresIn: "3600" });
  expect((await call("GET", "/auth/validate", signedIn.json().idToken)).statusCode).toBe(200);
  await waitForCode();
  expect((await finish(pending, codeOf(secret))).json().error.message).toBe("INVALID_MFA_PENDING_CREDENTIAL");
  const again = (await begin(user)).mfaPendingCredential;
  expect((await finish(again, codeOf(secret))).statusCode).toBe(200);
  expect((await finish((await begin(user)).mfaPendingCredential, codeOf(secret))).json().error.message).toBe(
    "INVALID_CODE",
  );
  const mails = await db.selectFrom("mails").select("subject").where("user_id", "=", user.id).execute();
  expect(mails.map(({ subject }) => subject)).toContain("Two-factor sign-in is on");
  const { secret_sealed } = await db.selectFrom("identity_second_factors").selectAll().executeTakeFirstOrThrow();
  expect(secret_sealed.toString("latin1")).not.toContain(secret);
});

test("G399 a recovery code signs in once and is told; new ones void the others; a code turns the factor off", async () => {
  const { db, begin, finish, must, call, enrol, waitForCode } = await setup();
  const { user, path, secret, recoveryCodes } = await enrol();
  const [first = "", second = ""] = recoveryCodes;
  const signIn = async (code: string) => (await finish((await begin(user)).mfaPendingCredential, code)).json();
  expect((await signIn(first.toUpperCase())).idToken).toBeDefined();
  expect((await signIn(first)).error.message).toBe("INVALID_CODE");
  const notices = await db
    .selectFrom("notifications")
    .select(["title", "body"])
    .where("user_id", "=", user.id)
    .execute();
  expect(notices).toContainEqual({
    title: "A recovery code was used",
    body: expect.stringContaining("9 codes are left"),
  });
  expect(await must("GET", path, user.token)).toMatchObject({ recovery_codes: 9 });
  const stored = await db.selectFrom("identity_recovery_codes").select("hash").execute();
  expect(stored.map(({ hash }) => hash.toString("latin1")).join()).not.toContain(second);

  const renew = `${path}/recovery-codes`;
  expect((await call("POST", renew, user.token, { code: "000000x" })).json()).toMatchObject({ message: wrong });
  const { recovery_codes } = await must("POST", renew, user.token, { code: codeOf(secret) });
  expect((await signIn(second)).error.message).toBe("INVALID_CODE");
  const elsewhere = await signIn(recovery_codes[0]);
  expect((await call("DELETE", path, user.token, { code: password })).json()).toMatchObject({ message: wrong });
  await waitForCode();
  await must("DELETE", path, user.token, { code: codeOf(secret) });
  expect((await call("GET", "/auth/validate", elsewhere.idToken)).statusCode).toBe(401);
  expect((await must("GET", `/settings/${user.id}`, user.token)).flags.twoFactorAuth).toBe(false);
  expect((await begin(user)).idToken).toBeDefined();
  expect((await call("DELETE", path, user.token, { code: codeOf(secret) })).json()).toMatchObject({
    code: "action_not_allowed",
  });
  await must("POST", path, user.token, { password });
});

test("guesses are limited for each sign-in and for each account, in parallel too, and nothing tells what was wrong", async () => {
  const { db, begin, finish, enrol, call } = await setup();
  const { user, path, secret, recoveryCodes } = await enrol();
  const valid = [-1, 0, 1].map((steps) => codeOf(secret, steps));
  const guesses = Array.from({ length: 20 }, (_, n) => String(n).padStart(6, "0")).filter(
    (code) => !valid.includes(code),
  );
  const { mfaPendingCredential: pending } = await begin(user);
  const replies = await Promise.all(guesses.slice(0, 8).map((code) => finish(pending, code)));
  expect(replies.map((reply) => reply.json().error.message).toSorted()).toEqual([
    ...Array(5).fill("INVALID_CODE"),
    ...Array(3).fill("INVALID_MFA_PENDING_CREDENTIAL"),
  ]);
  expect((await finish(pending, codeOf(secret))).json().error.message).toBe("INVALID_MFA_PENDING_CREDENTIAL");
  const next = (await begin(user)).mfaPendingCredential;
  for (const code of [...guesses.slice(8, 11), "aaaa-aaaa-aaaa", password])
    expect((await finish(next, code)).json().error.message).toBe("INVALID_CODE");
  const late = await finish((await begin(user)).mfaPendingCredential, codeOf(secret));
  expect([late.statusCode, late.json().error.message]).toEqual([429, "TOO_MANY_ATTEMPTS_TRY_LATER"]);
  expect(Number(late.headers["retry-after"])).toBeGreaterThan(600);
  const settings = await call("DELETE", path, user.token, { code: String(recoveryCodes[0]) });
  expect([settings.statusCode, settings.json().code]).toEqual([429, "rate_limited"]);
  await sql`update attempt_windows set ends_at = now() where count = 10 or ends_at < now() + interval '1 hour'`.execute(
    db,
  );
  expect((await finish((await begin(user)).mfaPendingCredential, codeOf(secret))).statusCode).toBe(200);
});

test("of two sign-ins with one code one wins, and of two codes for one sign-in too", async () => {
  const { begin, finish, enrol, waitForCode } = await setup();
  const { user, secret, recoveryCodes } = await enrol();
  const pending = async () => (await begin(user)).mfaPendingCredential as string;
  const statuses = async (replies: ReturnType<typeof finish>[]) =>
    (await Promise.all(replies)).map(({ statusCode }) => statusCode).toSorted();
  const [one, two] = [await pending(), await pending()];
  const code = codeOf(secret);
  expect(await statuses([finish(one, code), finish(two, code)])).toEqual([200, 400]);
  await waitForCode();
  const [recovery = "", spare = ""] = recoveryCodes;
  const [three, four] = [await pending(), await pending()];
  expect(await statuses([finish(three, recovery), finish(four, recovery)])).toEqual([200, 400]);
  const five = await pending();
  expect(await statuses([finish(five, codeOf(secret)), finish(five, spare)])).toEqual([200, 400]);
});

test("G401 a trusted browser is not asked for a code for 30 days, for this account, until password or factor change", async () => {
  const { db, enrol, dialect, begin, must, call, waitForCode } = await setup();
  const { user, path, secret } = await enrol();
  const other = await enrol();
  let current = password;
  const signIn = async ({ email }: TestUser, trustedBrowser: string, given = current) =>
    (await dialect("v1/accounts:signInWithPassword", { email, password: given, trustedBrowser })).json();
  const trust = async () => {
    await waitForCode();
    const { mfaPendingCredential } = await begin(user, current);
    const totpVerificationInfo = { verificationCode: codeOf(secret) };
    const body = { mfaPendingCredential, totpVerificationInfo, trustBrowser: true };
    return (await dialect("v2/accounts/mfaSignIn:finalize", body)).json();
  };
  const { trustedBrowser, idToken } = await trust();
  expect((await signIn(user, trustedBrowser)).idToken).toBeDefined();
  for (const reply of [await signIn(other.user, trustedBrowser), await signIn(user, "x"), await signIn(user, "")])
    expect(Object.keys(reply)).toEqual(["localId", "email", "mfaPendingCredential", "mfaInfo"]);
  expect((await signIn(user, trustedBrowser, "wrong")).error.message).toBe("INVALID_LOGIN_CREDENTIALS");
  await db.updateTable("identity_trusted_browsers").set({ expires_at: sql`now()` }).execute();
  expect((await signIn(user, trustedBrowser)).idToken).toBeUndefined();

  const second = (await trust()).trustedBrowser;
  const change = { currentPassword: password, newPassword: "another password 2" };
  await must("POST", `/settings/${user.id}/password`, idToken, change);
  current = change.newPassword;
  expect((await signIn(user, second)).idToken).toBeUndefined();

  const third = await trust();
  await waitForCode();
  await must("DELETE", path, third.idToken, { code: codeOf(secret) });
  const again = await must("POST", path, third.idToken, { password: current });
  expect((await call("POST", `${path}/confirm`, third.idToken, { code: codeOf(again.secret) })).statusCode).toBe(200);
  expect((await signIn(user, third.trustedBrowser)).idToken).toBeUndefined();
});

test("a half sign-in ends after five minutes, with a new password, and with a suspension", async () => {
  const { db, begin, finish, enrol, must, identity } = await setup();
  const { user, secret, recoveryCodes } = await enrol();
  const messageOf = async (credential: string) =>
    (await finish(credential, codeOf(secret))).json().error.message as string;
  const { mfaPendingCredential: old } = await begin(user);
  await db.updateTable("identity_pending_sign_ins").set({ expires_at: sql`now()` }).execute();
  expect(await messageOf(old)).toBe("INVALID_MFA_PENDING_CREDENTIAL");
  const { mfaPendingCredential: held } = await begin(user);
  const change = { currentPassword: password, newPassword: "another password 2" };
  await must("POST", `/settings/${user.id}/password`, user.token, change);
  expect(await messageOf(held)).toBe("INVALID_MFA_PENDING_CREDENTIAL");
  const { mfaPendingCredential: last } = await begin(user, "another password 2");
  await identity.updateUser(user.id, { disabled: true });
  expect(await messageOf(last)).toBe("INVALID_MFA_PENDING_CREDENTIAL");
  expect(recoveryCodes).toHaveLength(10);
});
