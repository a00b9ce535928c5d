import { sql } from "kysely";
import { afterAll, afterEach, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { authenticate } from "../authenticate.ts";
import { deleteUser } from "../local/accounts.ts";
import { changeUser } from "../local/users.ts";
import { newEmail } from "../testing/identity.suite.ts";
import { firebaseIdentity } from "./firebase-identity.ts";
import { startNotifyingProvider } from "./start-notifying-provider.ts";
import { startStandIn } from "./testing/stand-in.ts";

const database = await testDatabase();
const { db } = database;
const there = await startStandIn();
afterAll(async () => {
  await there.stop();
  await database.close();
});
afterEach(() => {
  there.state.isAway = false;
});

const notices: string[] = [];
const startServer = () =>
  firebaseIdentity({
    ...{ db, project: there.project, urls: there.urls, limits: { signInsPerMinute: 1_000 } },
    announce: async (_tx, { userId, title }) => void notices.push(`${userId} ${title}`),
    endRights: async () => ({ shareLinks: 1, environments: 1 }),
  });
const identity = startServer();
/** As a call with a bearer token: the user's id, undefined for 401, or the refusal's code and sentence. */
const callWith = (token: string, server = identity) =>
  authenticate(server)({ headers: { authorization: `Bearer ${token}` }, ip: "192.0.2.1" } as never).then(
    (user) => user?.id,
    ({ code, message }) => `${code}: ${message}`,
  );
const clock = vi.spyOn(performance, "now");
const start = performance.now();
let minutes = 0;
const aMinuteLater = () => clock.mockReturnValue(start + ++minutes * 61_000);
const seconds = () => Math.floor(Date.now() / 1000);
const unavailable = "unavailable: Sign-ins cannot be checked right now. Try again in a moment.";

test("an account that exists only there gets its mirror at its first sign-in, which is looked up once a minute", async () => {
  aMinuteLater();
  const { localId, email } = there.newAccount(newEmail());
  const token = await there.token(localId);
  const before = there.counts.lookups;
  for (let n = 0; n < 5; n++) expect(await callWith(token)).toBe(localId);
  // The first records it; the second, of a known sign-in, was looked up just now.
  expect(there.counts.lookups - before).toBe(1);
  const [session] = (await identity.listSessions(localId)) ?? [];
  expect(session).toMatchObject({ ip: "192.0.2.1" });
  expect(await db.selectFrom("identity_user").selectAll().where("id", "=", localId).execute()).toMatchObject([
    { email, email_verified: false, password_hash: null, disabled: false },
  ]);
  await db.insertInto("profiles").values({ user_id: localId, email, name: "" }).execute();
  const account = there.accounts.get(localId);
  Object.assign(account ?? {}, { email: newEmail(), emailVerified: true });
  aMinuteLater();
  expect(await identity.verifyIdToken(token, { checkRevoked: true })).toMatchObject({
    email: account?.email,
    emailVerified: true,
  });
  const profile = db.selectFrom("profiles").select("email").where("user_id", "=", localId);
  expect(await profile.executeTakeFirstOrThrow(), "mails go to the new address").toEqual({ email: account?.email });
});

test("a log-out ends one sign-in; its refreshed tokens are refused, another sign-in's are not", async () => {
  const { localId } = there.newAccount(newEmail());
  const authTime = seconds() - 60;
  const phone = await there.token(localId, { authTime });
  const laptop = await there.token(localId);
  const { sessionId } = await identity.verifyIdToken(phone, { checkRevoked: true });
  expect(await callWith(laptop)).toBe(localId);
  await identity.revokeSessions(localId, sessionId ?? "");
  expect(await callWith(await there.token(localId, { authTime, iat: seconds() - 1 }))).toBe(undefined);
  expect(await callWith(laptop)).toBe(localId);
});

test("a password that was reset there ends every sign-in here, with what a new password ends, once", async () => {
  const account = there.newAccount(newEmail());
  const old = await there.token(account.localId, { authTime: seconds() - 60 });
  const unused = await there.token(account.localId, { authTime: seconds() - 30 });
  expect(await callWith(old)).toBe(account.localId);
  account.validSince = String(seconds() - 5);
  const fresh = await there.token(account.localId);
  expect(await callWith(fresh)).toBe(account.localId);
  for (const token of [old, unused]) expect(await callWith(token)).toBe(undefined);
  aMinuteLater();
  expect(await callWith(fresh)).toBe(account.localId);
  const sent = notices.filter((notice) => notice.startsWith(account.localId));
  expect(sent).toEqual([`${account.localId} Your sign-ins have ended, or your password was changed`]);
});

test.each([
  ["disabled", (id: string) => Object.assign(there.accounts.get(id) ?? {}, { disabled: true })],
  ["deleted", (id: string) => there.accounts.delete(id)],
])("an account that was %s there is signed out within a minute", async (_, change) => {
  const { localId } = there.newAccount(newEmail());
  const token = await there.token(localId);
  expect(await callWith(token)).toBe(localId);
  change(localId);
  aMinuteLater();
  expect(await callWith(token)).toBe(undefined);
  expect(await identity.listSessions(localId)).toEqual([]);
});

test("an account with another one's address is refused with a sentence, and one that was deleted here does not come back", async () => {
  const email = newEmail();
  const { localId } = there.newAccount(email);
  expect(await callWith(await there.token(localId))).toBe(localId);
  const twin = there.newAccount(email);
  const sentence = "email_exists: There is already an account with this email address";
  expect(await callWith(await there.token(twin.localId))).toBe(sentence);

  await db.transaction().execute(async (tx) => {
    await deleteUser(tx, localId);
    await tx.insertInto("deleted_accounts").values({ user_id: localId }).execute();
  });
  expect(await callWith(await there.token(localId))).toBe(undefined);
  expect(await callWith(await there.token(twin.localId))).toBe(twin.localId);
});

test("while the provider is away who is known goes on, others get 503, and nobody is signed out (G321)", async () => {
  const { localId } = there.newAccount(newEmail());
  const known = await there.token(localId);
  expect(await callWith(known)).toBe(localId);
  there.state.isAway = true;
  aMinuteLater();
  expect(await callWith(known)).toBe(localId);
  expect(await callWith(await there.token(there.newAccount(newEmail()).localId))).toBe(unavailable);
  // A server that has just started knows no keys yet.
  expect(await callWith(known, startServer())).toBe(unavailable);
  there.state.isAway = false;
  aMinuteLater();
  expect(await callWith(known)).toBe(localId);
});

test("what is suspended, lifted or deleted here is told there, also after an outage (G321)", async () => {
  const { localId } = there.newAccount(newEmail());
  const account = there.accounts.get(localId);
  const token = await there.token(localId);
  expect(await callWith(token)).toBe(localId);
  there.state.isAway = true;
  const loop = startNotifyingProvider({ db, project: there.project, log: silentLogger, urls: there.urls });
  onTestFinished(() => loop.stop());
  const change = (disabled: boolean) => db.transaction().execute((tx) => changeUser(tx, localId, { disabled }));
  await change(true);
  expect(await callWith(token)).toBe(undefined);
  loop.trigger();
  await vi.waitFor(
    async () => expect(await waiting(localId)).toMatchObject([{ attempts: 1, lease_token: null }]),
    20_000,
  );
  there.state.isAway = false;
  await sql`update hosted_changes set due_at = now()`.execute(db);
  const arrives = async (isDone: () => unknown) => {
    loop.trigger();
    await vi.waitFor(() => expect(isDone()).toBe(true), 20_000);
    await vi.waitFor(async () => expect(await waiting(localId)).toEqual([]), 20_000);
  };
  await arrives(() => account?.disabled);
  await change(false);
  await arrives(() => account?.disabled === false);
  await db.transaction().execute((tx) => deleteUser(tx, localId));
  await arrives(() => there.counts.deleted.includes(localId));
});

const waiting = (id: string) => db.selectFrom("hosted_changes").selectAll().where("user_id", "=", id).execute();
