import { randomBytes } from "node:crypto";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { newId } from "../database/new-id.ts";
import { handleErrors } from "../http/handle-errors.ts";
import { limitRequests } from "../http/limit-requests.ts";
import { parseBodies } from "../http/parse-bodies.ts";
import { authRoutes } from "./auth-routes.ts";
import { authenticate } from "./authenticate.ts";
import { readProfile } from "./profiles.ts";
import { newEmail } from "./testing/identity.suite.ts";
import { password, testInstallation, tokensOf } from "./testing/test-installation.ts";

const { db, start } = await testInstallation();

async function setup({ onSignUp = vi.fn(async () => {}), identity = start() } = {}) {
  // Every app here is asked from one address, and they count together.
  await db.deleteFrom("attempt_windows").execute();
  const app = Fastify();
  parseBodies(app);
  handleErrors(app);
  const limits = { requestsPerMinute: 1_000, anonymousPerMinute: 1_000, unauthenticatedPerMinute: 1_000 };
  await limitRequests(app, limits, { db, authenticate: authenticate(identity) });
  authRoutes(app, { db, identity, onSignUp });
  onTestFinished(() => app.close());

  const call = (method: "GET" | "POST" | "PUT", url: string, token?: string, payload?: object) =>
    app.inject({
      method,
      url,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(payload && { payload }),
    });

  async function signUp(email = newEmail()) {
    const reply = await call("POST", "/auth/signup", undefined, { email, password, name: "Ann" });
    const tokens = tokensOf(await identity.signInWithCustomToken(reply.json().access_token, {}));
    return { email, id: tokens.uid, token: tokens.idToken, refreshToken: tokens.refreshToken };
  }

  return { app, identity, call, signUp, onSignUp };
}

/** Inserts a grant and a code of that sign-in; returns a function that reads their states. */
async function openGrant(userId: string, sessionId: string | null) {
  const id = newId();
  const hash = randomBytes(32);
  const shared = { user_id: userId, environment_id: newId(), auth_session: sessionId };
  await db.transaction().execute(async (tx) => {
    // Skips foreign keys: neither environment nor order is needed here.
    await sql`set local session_replication_role = replica`.execute(tx);
    await tx
      .insertInto("grants")
      .values({ id, ...shared })
      .execute();
    const expires_at = sql<Date>`now() + interval '1 minute'`;
    await tx
      .insertInto("sign_in_codes")
      .values({ hash, expires_at, ...shared })
      .execute();
  });
  return async () => {
    const grant = db.selectFrom("grants").select("revoked_at as ended").where("id", "=", id);
    const code = db.selectFrom("sign_in_codes").select("used_at as ended").where("hash", "=", hash);
    const rows = [await grant.executeTakeFirstOrThrow(), await code.executeTakeFirstOrThrow()];
    return rows.map(({ ended }) => (ended === null ? "open" : "ended")).join(", ");
  };
}

test("a sign-up returns a custom token, creates one profile and runs its hook once", async () => {
  const { call, signUp, onSignUp } = await setup();
  const { id, email, token } = await signUp();
  expect(await readProfile(db, { id, email: "", name: "" })).toEqual({ name: "Ann", email, phone: "" });
  expect((await call("GET", "/auth/validate", token)).json()).toEqual({ status: "success" });
  expect(onSignUp.mock.calls).toEqual([[expect.anything(), { id, email, name: "Ann" }]]);
});

test("a missing profile is created when the session is validated", async () => {
  const { call, signUp, onSignUp } = await setup();
  const { id, email, token } = await signUp();
  await db.deleteFrom("profiles").where("user_id", "=", id).execute();
  await Promise.all([1, 2, 3].map(() => call("GET", "/auth/validate", token)));
  expect(await readProfile(db, { id, email: "", name: "" })).toMatchObject({ name: "Ann", email });
  expect(onSignUp).toHaveBeenCalledTimes(2);
});

test.each([
  ["an address that has an account", 409, "email_exists", {}],
  ["a short password", 400, "invalid_request", { password: "12345" }],
  ["a long password", 400, "invalid_request", { password: "x".repeat(257) }],
  ["no address", 400, "invalid_request", { email: "" }],
  ["a NUL in the name", 400, "invalid_request", { name: "a\u0000" }],
  ["a name that is no text", 400, "invalid_request", { name: ["Ann"] }],
])("signing up is refused for %s", async (_what, status, code, change) => {
  const { call, signUp } = await setup();
  const { email } = await signUp();
  const reply = await call("POST", "/auth/signup", undefined, { email, password, ...change });
  expect([reply.statusCode, reply.json()]).toEqual([status, expect.objectContaining({ status: "error", code })]);
});

test("a logout ends this sign-in with its grants, and no other", async () => {
  const { call, signUp, identity } = await setup();
  const { id, email, token } = await signUp();
  const other = tokensOf(await identity.signIn(email, password, {}));
  const sessionOf = async (idToken: string) => (await identity.verifyIdToken(idToken)).sessionId;
  const mine = await openGrant(id, await sessionOf(token));
  const others = await openGrant(id, await sessionOf(other.idToken));

  expect((await call("POST", "/auth/logout", token)).json()).toEqual({ status: "success" });
  expect((await call("GET", "/auth/validate", token)).statusCode).toBe(401);
  expect((await call("GET", "/auth/validate", other.idToken)).statusCode).toBe(200);
  expect([await mine(), await others()]).toEqual(["ended, ended", "open, open"]);
});

test.each([
  ["/profile/{id}/update_password", { current_password: password, new_password: "second" }],
  ["/profile/{id}/update_password", { currentPassword: password, newPassword: "second" }],
  ["/settings/{id}/password", { currentPassword: password, newPassword: "second" }],
  ["/settings/{id}/password", { current_password: password, new_password: "second" }],
])("%s changes the password, keeps this sign-in and ends everything else", async (path, body) => {
  const { call, signUp, identity } = await setup();
  const { id, email, token } = await signUp();
  const other = tokensOf(await identity.signIn(email, password, {}));
  const outsider = await openGrant(newId(), null);
  const grant = await openGrant(id, (await identity.verifyIdToken(token)).sessionId);

  const reply = await call("POST", path.replace("{id}", id), token, body);
  expect(reply.json()).toEqual({ status: "success", success: true, message: "Settings updated successfully" });
  expect((await call("GET", "/auth/validate", token)).statusCode).toBe(200);
  expect((await call("GET", "/auth/validate", other.idToken)).statusCode).toBe(401);
  expect([await grant(), await outsider()]).toEqual(["ended, ended", "open, open"]);
  await expect(identity.verifyPassword(email, "second")).resolves.toEqual({ uid: id });
});

test("a wrong current password changes nothing and returns the specification's message", async () => {
  const { call, signUp } = await setup();
  const { id, token } = await signUp();
  const body = { current_password: "wrong", new_password: "second" };
  const reply = await call("POST", `/profile/${id}/update_password`, token, body);
  const message = "Failed to change passwords";
  expect(reply.statusCode).toBe(400);
  expect(reply.json()).toEqual({ status: "error", code: "wrong_password", message, detail: message });
});

const bothFields = "Give current_password and new_password, or currentPassword and newPassword";

test.each([
  [{}, bothFields],
  [{ current_password: password }, bothFields],
  [{ current_password: password, newPassword: "second" }, bothFields],
  [{ current_password: password, new_password: "short" }, "new_password: Password must be at least 6 characters"],
  [{ currentPassword: password, newPassword: "x".repeat(257) }, "newPassword: A password has at most 256 characters"],
])("a password change with %o is refused with the expected fields", async (body, message) => {
  const { call, signUp } = await setup();
  const { id, token } = await signUp();
  for (const path of [`/profile/${id}/update_password`, `/settings/${id}/password`]) {
    const reply = await call("POST", path, token, body);
    expect([reply.statusCode, reply.json()]).toEqual([
      400,
      expect.objectContaining({ code: "invalid_request", message }),
    ]);
  }
});

test("guesses of the current password are rate-limited", async () => {
  const { call, signUp } = await setup({ identity: start({ limits: { signInsPerMinute: 2 } }) });
  const { id, token } = await signUp();
  const guess = () =>
    call("POST", `/profile/${id}/update_password`, token, { current_password: "no", new_password: "second" });
  expect([(await guess()).statusCode, (await guess()).statusCode]).toEqual([400, 400]);
  const refused = await guess();
  expect([refused.statusCode, refused.json().code]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
});

test.each(["/profile/{id}/update", "/settings/{id}/profile"])(
  "%s changes name and phone, for tokens too",
  async (path) => {
    const { call, signUp, identity } = await setup();
    const { id, token } = await signUp();
    const owner = { id, email: "", name: "" };
    const change = (body: object) => call("PUT", path.replace("{id}", id), token, body);
    expect((await change({ name: " Bea ", phone: "+91 1" })).statusCode).toBe(200);
    expect(await readProfile(db, owner)).toMatchObject({ name: "Bea", phone: "+91 1" });
    expect((await change({ name: "Cleo" })).statusCode).toBe(200);
    expect(await readProfile(db, owner)).toMatchObject({ name: "Cleo", phone: "+91 1" });
    expect(await identity.verifyIdToken(token, { checkRevoked: true })).toMatchObject({ name: "Cleo" });
    expect((await change({ name: "x".repeat(121) })).statusCode).toBe(400);
  },
);

test("another user's profile gets the same refusal as a missing one", async () => {
  const { call, signUp } = await setup();
  const [ann, bob] = [await signUp(), await signUp()];
  const change = async (id: string) => {
    const reply = await call("PUT", `/profile/${id}/update`, ann.token, { name: "Mallory" });
    return [reply.statusCode, reply.json()];
  };
  expect(await change(bob.id)).toEqual([404, expect.objectContaining({ code: "not_found" })]);
  expect(await change(bob.id)).toEqual(await change(newId()));
  expect(await readProfile(db, { ...bob, name: "" })).toMatchObject({ name: "Ann" });
});

test("a missing or malformed token is unauthenticated", async () => {
  const { call } = await setup();
  for (const token of [undefined, "x", "a.b.c"])
    expect((await call("GET", "/auth/validate", token)).json()).toMatchObject({ code: "unauthenticated" });
});

test("a token that cannot be verified during an outage is a 503, not a sign-out", async () => {
  const working = await setup();
  const { token } = await working.signUp();
  const broken = start({ db: db.withSchema("missing") as typeof db });
  const { call } = await setup({ identity: broken });
  const reply = await call("GET", "/auth/validate", token);
  expect([reply.statusCode, reply.json().code]).toEqual([503, "unavailable"]);
  expect(reply.headers["retry-after"]).toBe("5");
});
