import Fastify from "fastify";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { handleErrors } from "../../http/handle-errors.ts";
import { parseBodies } from "../../http/parse-bodies.ts";
import { readProfile } from "../profiles.ts";
import { newEmail } from "../testing/identity.suite.ts";
import { password, testInstallation } from "../testing/test-installation.ts";
import { identityRoutes } from "./identity-routes.ts";

const installation = await testInstallation();

async function setup(signInsPerMinute = 1_000) {
  const identity = installation.start({ limits: { signInsPerMinute } });
  const app = Fastify();
  parseBodies(app);
  handleErrors(app);
  identityRoutes(app, { db: installation.db, identity, contact: "hello@berth.example" });
  onTestFinished(() => app.close());
  const email = newEmail();
  const user = await identity.createUser({ email, password });
  const account = (method: string, body: object) =>
    app.inject({ method: "POST", url: `/identity/v1/accounts:${method}?key=local`, payload: body });
  const token = (form: Record<string, string>) =>
    app.inject({
      method: "POST",
      url: "/identity/v1/token?key=local",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams(form).toString(),
    });
  return { app, identity, email, user, account, token };
}

test("a browser signs in and refreshes by a form, and the published keys verify the token", async () => {
  const { app, account, token, email, user } = await setup();
  const signedIn = await account("signInWithPassword", { email, password, returnSecureToken: true });
  expect(signedIn.statusCode).toBe(200);
  expect(signedIn.headers["cache-control"]).toBe("no-store");
  expect(signedIn.json()).toEqual({
    localId: user.uid,
    email,
    idToken: expect.any(String),
    refreshToken: expect.any(String),
    expiresIn: "3600",
  });

  const refreshed = await token({ grant_type: "refresh_token", refresh_token: signedIn.json().refreshToken });
  expect(refreshed.json()).toMatchObject({ user_id: user.uid, expires_in: "3600", token_type: "Bearer" });
  const { keys } = (await app.inject("/identity/.well-known/jwks.json")).json();
  const { payload } = await jwtVerify(refreshed.json().id_token, createLocalJWKSet({ keys }));
  expect(payload).toMatchObject({ sub: user.uid, email, aud: "berth", iss: "http://localhost:3000/identity" });
  expect(payload["firebase"]).toEqual({ identities: { email: [email] }, sign_in_provider: "password" });
});

test("a browser signs in once with a custom token", async () => {
  const { identity, account, token: refresh, user, email } = await setup();
  const token = await identity.createCustomToken(user.uid);
  expect((await account("signInWithCustomToken", { token })).json()).toMatchObject({ localId: user.uid, email });
  const again = await account("signInWithCustomToken", { token });
  const other = (await account("signInWithCustomToken", { token: await identity.createCustomToken(user.uid) })).json();
  const refreshed = (await refresh({ grant_type: "refresh_token", refresh_token: other.refreshToken })).json();
  for (const idToken of [other.idToken, refreshed.id_token])
    expect(decodeJwt(idToken)["firebase"]).toMatchObject({ sign_in_provider: "custom" });
  expect([again.statusCode, again.json().error.message]).toEqual([400, "INVALID_CUSTOM_TOKEN"]);
});

test("a browser checks a reset code, uses it, and verifies an address", async () => {
  const { identity, account, email } = await setup();
  const oobCode = await identity.createActionCode("PASSWORD_RESET", email);
  expect((await account("resetPassword", { oobCode })).json()).toMatchObject({ email });
  expect((await account("resetPassword", { oobCode, newPassword: "Second password 2!" })).json()).toMatchObject({
    email,
  });
  expect((await account("resetPassword", { oobCode })).json().error.message).toBe("INVALID_OOB_CODE");
  const verify = await identity.createActionCode("VERIFY_EMAIL", email);
  expect((await account("update", { oobCode: verify })).json()).toMatchObject({ email, emailVerified: true });
});

test("a browser changes the password by its ID token and gets new tokens", async () => {
  const { account, token, email } = await setup();
  const { idToken, refreshToken } = (await account("signInWithPassword", { email, password })).json();
  const changed = (await account("update", { idToken, password: "Second password 2!" })).json();
  const old = await token({ grant_type: "refresh_token", refresh_token: refreshToken });
  expect(old.json().error).toMatchObject({ code: 400, message: "TOKEN_EXPIRED" });
  expect((await token({ grant_type: "refresh_token", refresh_token: changed.refreshToken })).statusCode).toBe(200);
});

test("Firebase's SDK reads the user and changes the display name", async () => {
  const { identity, account, email, user } = await setup();
  const { idToken } = (await account("signInWithPassword", { email, password })).json();
  const [found] = (await account("lookup", { idToken })).json().users;
  expect(found).toMatchObject({ localId: user.uid, email, emailVerified: false, displayName: "" });
  expect(found.providerUserInfo).toMatchObject([{ providerId: "password", federatedId: email, email }]);
  const renamed = await account("update", { idToken, displayName: " Ada ", returnSecureToken: true });
  expect([renamed.statusCode, renamed.json()]).toEqual([200, { localId: user.uid, email, displayName: "Ada" }]);
  expect((await account("lookup", { idToken })).json().users[0].displayName).toBe("Ada");
  expect((await readProfile(installation.db, { id: user.uid, email, name: "" })).name).toBe("Ada");
  await identity.revokeSessions(user.uid);
  for (const reply of [await account("lookup", { idToken }), await account("update", { idToken, displayName: "Eve" })])
    expect([reply.statusCode, reply.json().error.message]).toEqual([400, "TOKEN_EXPIRED"]);
});

test.each([
  ["an invalid address", "signInWithPassword", { email: "nobody", password: "x" }, 400, "INVALID_EMAIL"],
  ["an empty password", "signInWithPassword", { email: "a@b.co", password: "" }, 400, "MISSING_PASSWORD"],
  ["no password", "signInWithPassword", { email: "a@b.co" }, 400, "MISSING_PASSWORD"],
  ["an invalid token", "lookup", { idToken: "x" }, 400, "INVALID_ID_TOKEN"],
  ["an unsupported call", "sendOobCode", { requestType: "PASSWORD_RESET" }, 404, "OPERATION_NOT_ALLOWED"],
])("%s is refused in Firebase's format", async (_what, method, body, status, message) => {
  const { account } = await setup();
  const reply = await account(method, body);
  expect([reply.statusCode, reply.json().error]).toEqual([
    status,
    { code: status, message, errors: [{ message, domain: "global", reason: "invalid" }] },
  ]);
});

test("too many sign-ins are refused with Retry-After", async () => {
  const { account, email } = await setup(2);
  for (const _ of [1, 2]) await account("signInWithPassword", { email, password: "wrong" });
  const refused = await account("signInWithPassword", { email, password });
  expect(refused.statusCode).toBe(429);
  expect(refused.json().error).toMatchObject({ code: 429, message: "TOO_MANY_ATTEMPTS_TRY_LATER" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
});

const json = "application/json";
const form = "application/x-www-form-urlencoded";
const long = "x".repeat(5_000);

test.each<[string, number, string, string, string]>([
  ["a number for an address", 400, "v1/accounts:signInWithPassword", json, '{"email":1,"password":"x"}'],
  ["no password", 400, "v1/accounts:signInWithPassword", json, '{"email":"a@b.co"}'],
  ["a NUL", 400, "v1/accounts:signInWithPassword", json, '{"email":"a\\u0000@b.co","password":"x"}'],
  ["a lone surrogate", 400, "v1/accounts:signInWithPassword", json, '{"email":"\\ud800@b.co","password":"\\udfff"}'],
  ["a surrogate token", 400, "v1/accounts:signInWithCustomToken", json, '{"token":"\\ud800"}'],
  ["a list", 400, "v1/accounts:signInWithPassword", json, "[]"],
  ["null", 400, "v1/accounts:signInWithPassword", json, "null"],
  ["broken JSON", 400, "v1/accounts:signInWithPassword", json, "{"],
  ["an empty body", 400, "v1/accounts:signInWithPassword", json, ""],
  ["a polluted prototype", 400, "v1/accounts:update", json, '{"__proto__":{"idToken":"x"}}'],
  ["a long text", 400, "v1/accounts:signInWithPassword", json, JSON.stringify({ email: "a@b.co", password: long })],
  ["a body over 16 KB", 413, "v1/accounts:signInWithPassword", json, JSON.stringify({ email: long.repeat(4) })],
  ["a form over 16 KB", 413, "v1/token", form, `grant_type=refresh_token&refresh_token=${long.repeat(4)}`],
  ["a form where JSON belongs", 415, "v1/accounts:signInWithPassword", form, "email=a@b.co&password=x"],
  ["another grant", 400, "v1/token", form, "grant_type=password&refresh_token=x"],
  ["a broken escape in a form", 400, "v1/token", form, "grant_type=refresh_token&refresh_token=%ff%00%zz"],
  ["nothing to update", 400, "v1/accounts:update", json, "{}"],
  ["an unknown method", 404, "v1/accounts:nope", json, "{}"],
])("%s is refused with %i", async (_what, status, path, type, payload) => {
  const { app } = await setup();
  const reply = await app.inject({
    method: "POST",
    url: `/identity/${path}`,
    headers: { "content-type": type },
    payload,
  });
  expect(reply.statusCode).toBe(status);
  expect(reply.json().error).toEqual({
    code: status,
    message: expect.stringMatching(/^[A-Z_]+( : .+)?$/),
    errors: expect.any(Array),
  });
});
