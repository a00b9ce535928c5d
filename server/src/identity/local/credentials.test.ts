import { createHook } from "node:async_hooks";
import { argon2Sync } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { newEmail } from "../testing/identity.suite.ts";
import { outcome, password, testInstallation } from "../testing/test-installation.ts";

const { db, setup, start } = await testInstallation();

/** How many hashes of argon2 this process has begun since. */
function countHashes(): () => number {
  let count = 0;
  const hook = createHook({
    init(_, type) {
      if (type === "ARGON2REQUEST") count++;
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  return () => count;
}

test("a hash with old parameters is rehashed at the next sign-in", async () => {
  const { identity, email, user } = await setup();
  const stored = () =>
    db.selectFrom("identity_user").select("password_hash").where("id", "=", user.uid).executeTakeFirstOrThrow();
  const nonce = Buffer.alloc(16, 3);
  const tag = argon2Sync("argon2id", {
    message: password,
    nonce,
    memory: 8192,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  });
  const phc = `$argon2id$v=19$m=8192,t=1,p=1$${nonce.toString("base64").slice(0, 22)}$${tag.toString("base64").slice(0, 43)}`;
  await db.updateTable("identity_user").set({ password_hash: phc }).where("id", "=", user.uid).execute();
  await identity.signIn(email, password, {});
  expect((await stored()).password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await outcome(identity.verifyPassword(email, password))).toBe("ok");
});

test("a cached token still expires, and ends with its session", async () => {
  const { identity, tokens, user } = await setup();
  const verify = () => outcome(identity.verifyIdToken(tokens.idToken, { checkRevoked: true }));
  expect([await verify(), await verify()]).toEqual(["ok", "ok"]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_601_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await verify()).toBe("TOKEN_EXPIRED");
  vi.useRealTimers();
  expect(await verify()).toBe("ok");
  await identity.revokeSessions(user.uid);
  expect(await verify()).toBe("TOKEN_REVOKED");
});

test("a sign-in that is concurrent with a password change does not survive it", async () => {
  const { identity, email, user } = await setup();
  const outcomes = await Promise.all([
    outcome(identity.updateUser(user.uid, { password: "Second password 2!" })),
    ...[1, 2, 3, 4].map(() => outcome(identity.signIn(email, password, {}))),
  ]);
  expect(outcomes[0]).toBe("ok");
  expect(await identity.listSessions(user.uid), "no sign-in by the old password is left").toEqual([]);
});

test("no account does the work of one: a sign-in is one password hash, a reset is none, whether it exists or not", async () => {
  const { identity, email } = await setup();
  const hashes = countHashes();
  const workOf = async (work: Promise<unknown>) => {
    const before = hashes();
    await work;
    return hashes() - before;
  };
  for (const address of [email, newEmail(), "", "x".repeat(300)])
    expect(await workOf(expect(identity.verifyPassword(address, "wrong password")).rejects.toThrow()), address).toBe(1);
  expect(await workOf(identity.verifyPassword(email, password))).toBe(1);
  for (const address of [email, newEmail()])
    expect(await workOf(identity.createActionCode("PASSWORD_RESET", address)), address).toBe(0);
});

test("guesses are refused after a limit, and the owner's own network is still allowed", async () => {
  const email = newEmail();
  const identity = start({ limits: { signInsPerMinute: 10, failuresPerDay: 5 } });
  await identity.createUser({ email, password });
  await identity.signIn(email, password, { ip: "198.51.100.7" });
  const outcomes: string[] = [];
  for (let n = 0; n < 8; n++)
    outcomes.push(await outcome(identity.verifyPassword(email, "wrong", `2001:db8:${n.toString(16)}::1`)));
  expect(outcomes.filter((each) => each === "INVALID_LOGIN_CREDENTIALS")).toHaveLength(5);
  expect(await outcome(identity.signIn(email, password, { ip: "203.0.113.1" }))).toBe("TOO_MANY_ATTEMPTS_TRY_LATER");
  expect(await outcome(identity.signIn(email, password, { ip: "198.51.100.7" }))).toBe("ok");

  const code = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  await identity.resetPassword(code, "Second password 2!");
  expect(await outcome(identity.signIn(email, "Second password 2!", { ip: "203.0.113.1" }))).toBe("ok");
});

test("past the failures an account answers as none does, on a network that it is known on too, with one hash (G369)", async () => {
  const limits = { signInsPerMinute: 100, failuresPerDay: 5 };
  const identity = start({ limits });
  const [email, nobodys] = [newEmail(), newEmail()];
  await identity.createUser({ email, password });
  await identity.signIn(email, password, { ip: "198.51.100.7" });
  const hashes = countHashes();
  const answer = async (address: string, ip: string) => {
    const before = hashes();
    const { code, retryAfterSeconds } = await identity.verifyPassword(address, "wrong", ip).catch((error) => error);
    // Windows of two accounts begin some milliseconds apart.
    return { code, hours: Math.round(retryAfterSeconds / 3600), hashes: hashes() - before };
  };
  const codes: string[] = [];
  // Past the familiar network's own failures too.
  for (let n = 0; n < 12; n++)
    for (const ip of ["198.51.100.7", "203.0.113.1"]) {
      const theirs = await answer(email, ip);
      expect(theirs, `${n} on ${ip}`).toEqual(await answer(nobodys, ip));
      expect(theirs.hashes).toBe(1);
      codes.push(theirs.code);
    }
  expect(codes.indexOf("TOO_MANY_ATTEMPTS_TRY_LATER")).toBe(5);
  expect(codes.slice(5)).not.toContain("INVALID_LOGIN_CREDENTIALS");
});

test("while 400 networks guess, the owner can always sign in from a familiar network (P12)", async () => {
  const { identity, email } = await setup();
  const own = { ip: "198.51.100.7" };
  await identity.signIn(email, password, own);
  for (let round = 0; round < 4; round++) {
    const flood = Array.from({ length: 400 }, (_, n) =>
      outcome(identity.verifyPassword(newEmail(), "wrong password", `2001:db8:${round}:${n.toString(16)}::1`)),
    );
    expect(await outcome(identity.signIn(email, password, own))).toBe("ok");
    expect(new Set(await Promise.all(flood))).toContain("TOO_MANY_ATTEMPTS_TRY_LATER");
  }
});

test("a flood of one network blocks no other network, and no password change", async () => {
  const { identity, email, user } = await setup();
  const flood = Array.from({ length: 200 }, (_, n) =>
    outcome(identity.verifyPassword(newEmail(), "wrong password", `2001:db8:1:1::${n.toString(16)}`)),
  );
  expect(await outcome(identity.signIn(email, password, { ip: "203.0.113.50" }))).toBe("ok");
  expect(await outcome(identity.updateUser(user.uid, { password: "Second password 2!" }))).toBe("ok");
  await Promise.all(flood);
});

test("several servers share one limit for an account and a network", async () => {
  const email = newEmail();
  const servers = [1, 2, 3].map(() => start({ limits: { signInsPerMinute: 10 } }));
  await servers[0]?.createUser({ email, password });
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      outcome((servers[n % 3] ?? start()).verifyPassword(email, "wrong", "192.0.2.77")),
    ),
  );
  const checked = outcomes.filter((each) => each === "INVALID_LOGIN_CREDENTIALS").length;
  expect(checked).toBeGreaterThanOrEqual(8);
  expect(checked).toBeLessThanOrEqual(12);
});
