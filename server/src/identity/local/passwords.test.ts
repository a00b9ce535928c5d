import { argon2Sync } from "node:crypto";
import { expect, test } from "vitest";
import { checkPassword, hashPassword } from "./passwords.ts";

const sender = { network: "192.0.2.1", familiar: false };

test("a hash is argon2id of 19 MiB and two passes, salted, and only its password matches", async () => {
  const [first, second] = await Promise.all([
    hashPassword("horse battery", sender),
    hashPassword("horse battery", sender),
  ]);
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(second).not.toBe(first);
  expect(await checkPassword("horse battery", first, sender)).toEqual({ matches: true, outdated: false });
  expect(await checkPassword("horse batterz", first, sender)).toEqual({ matches: false, outdated: false });
});

test("a password in another Unicode normalization form matches", async () => {
  const stored = await hashPassword("caf\u00e9 au lait", sender);
  expect(await checkPassword("cafe\u0301 au lait", stored, sender)).toMatchObject({ matches: true });
});

test("a hash with old parameters matches and is outdated", async () => {
  const nonce = Buffer.alloc(16, 7);
  const cheap = { memory: 8192, passes: 1, parallelism: 1 };
  const tag = argon2Sync("argon2id", { message: "old password", nonce, ...cheap, tagLength: 32 });
  const encode = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${encode(nonce)}$${encode(tag)}`;
  expect(await checkPassword("old password", stored, sender)).toEqual({ matches: true, outdated: true });
});

test("no password matches an unknown user, not even that of the dummy hash", async () => {
  expect(await checkPassword("", null, sender)).toEqual({ matches: false, outdated: false });
});

test("two concurrent hashes and twenty queued; the next is refused with a retry time", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => checkPassword("x", null, sender)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(refused).toHaveLength(8);
  for (const error of refused)
    expect(error).toMatchObject({ code: "TOO_MANY_ATTEMPTS_TRY_LATER", retryAfterSeconds: 2 });
  await expect(checkPassword("x", null, sender)).resolves.toBeDefined();
});
