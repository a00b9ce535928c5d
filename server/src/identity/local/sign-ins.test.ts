import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { newEmail } from "../testing/identity.suite.ts";
import { device, outcome, testInstallation } from "../testing/test-installation.ts";

const { db, setup, start } = await testInstallation();

test("three tabs that refresh concurrently get one successor, which is valid", async () => {
  const { identity, tokens } = await setup();
  const tabs = await Promise.all([1, 2, 3].map(() => identity.refresh(tokens.refreshToken)));
  expect(new Set(tabs.map((tab) => tab.refreshToken)).size).toBe(1);
  await expect(identity.refresh(tabs[0]?.refreshToken ?? "")).resolves.toMatchObject({ uid: tokens.uid });
});

test("a token two generations old is stolen: its sign-in ends, and its user is notified", async () => {
  const { identity, tokens, user, notices } = await setup();
  const second = await identity.refresh(tokens.refreshToken);
  const third = await identity.refresh(second.refreshToken);
  expect(await outcome(identity.refresh(tokens.refreshToken))).toBe("TOKEN_EXPIRED");
  expect(await outcome(identity.refresh(third.refreshToken))).toBe("TOKEN_EXPIRED");
  expect(await outcome(identity.verifyIdToken(third.idToken, { checkRevoked: true }))).toBe("TOKEN_REVOKED");
  const [session] = tokens.refreshToken.split(".");
  expect(notices).toEqual([`${user.uid} sign-in-copied:${session}`]);
});

test("the grace period for a lost response ends after a minute", async () => {
  const { identity, tokens } = await setup();
  const [id = ""] = tokens.refreshToken.split(".");
  const next = await identity.refresh(tokens.refreshToken);
  await db
    .updateTable("identity_session")
    .set({ rotated_at: sql`now() - interval '61 seconds'` })
    .where("id", "=", id)
    .execute();
  expect(await outcome(identity.refresh(tokens.refreshToken))).toBe("TOKEN_EXPIRED");
  expect(await outcome(identity.refresh(next.refreshToken)), "ended by the reuse").toBe("TOKEN_EXPIRED");
});

test("a refresh token of another installation, a later generation or an ended sign-in is invalid", async () => {
  const { identity, tokens, user } = await setup();
  const [id, , mac] = tokens.refreshToken.split(".");
  expect(await outcome(identity.refresh(`${id}.2.${mac}`))).toBe("INVALID_REFRESH_TOKEN");
  const other = start({ secret: randomBytes(32) });
  expect(await outcome(other.refresh(tokens.refreshToken))).toBe("INVALID_REFRESH_TOKEN");
  await identity.revokeSessions(user.uid, id);
  expect(await outcome(identity.refresh(tokens.refreshToken))).toBe("TOKEN_EXPIRED");
});

test("an ID token is valid for this installation, for an hour, with this algorithm only", async () => {
  const { identity, tokens } = await setup();
  expect(await outcome(start({ appUrl: "http://elsewhere.test" }).verifyIdToken(tokens.idToken))).toBe(
    "INVALID_ID_TOKEN",
  );
  const [header = "", payload = "", signature = ""] = tokens.idToken.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: "somebody" })).toString("base64url");
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  const [published] = await identity.publishedKeys();
  // Algorithm confusion: the public key as an HMAC secret.
  const confused = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", kid, typ: "JWT" })
    .sign(Buffer.from(JSON.stringify(published)));
  const unsigned = `${Buffer.from(JSON.stringify({ alg: "none", kid, typ: "JWT" })).toString("base64url")}.${payload}.`;
  for (const token of [`${header}.${forged}.${signature}`, confused, unsigned])
    expect(await outcome(identity.verifyIdToken(token)), token).toBe("INVALID_ID_TOKEN");

  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_601_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await outcome(identity.verifyIdToken(tokens.idToken))).toBe("TOKEN_EXPIRED");
});

test("a password change with an ID token needs a recent sign-in, and returns a new one", async () => {
  const { identity, tokens } = await setup();
  const changed = await identity.changePassword(tokens.idToken, "Second password 2!", device);
  expect(await outcome(identity.verifyIdToken(tokens.idToken, { checkRevoked: true }))).toBe("TOKEN_REVOKED");
  const refreshed = await identity.refresh(changed.refreshToken);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 301_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await outcome(identity.changePassword(refreshed.idToken, "Third password 3!", device))).toBe(
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN",
  );
});

test("a new address is unverified, and another account's is refused", async () => {
  const { identity, user } = await setup();
  const other = await setup();
  await identity.updateUser(user.uid, { emailVerified: true });
  expect(await outcome(identity.updateUser(user.uid, { email: other.email }))).toBe("EMAIL_EXISTS");
  expect(await identity.updateUser(user.uid, { email: newEmail() })).toMatchObject({ emailVerified: false });
});

test("sign-ins are listed with their device until they end", async () => {
  const { identity, user, tokens } = await setup();
  const [session] = tokens.refreshToken.split(".");
  expect(await identity.listSessions(user.uid)).toEqual([
    {
      id: session,
      createdAt: expect.any(Date),
      lastUsedAt: expect.any(Date),
      ...device,
      byPasskey: false,
      issuer: null,
    },
  ]);
  await identity.revokeSessions(user.uid, session);
  expect(await identity.listSessions(user.uid)).toEqual([]);
});
