import { argon2Sync } from "node:crypto";
import { expect, test } from "vitest";
import { checkPassword, hashPassword } from "./passwords.ts";

const turn = { network: "192.0.2.1", familiar: false };

test("a hash is argon2id of 19 MiB and two passes, salted, and only its password matches", async () => {
  const [first, second] = await Promise.all([hashPassword("horse battery", turn), hashPassword("horse battery", turn)]);
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(second).not.toBe(first);
  expect(await checkPassword("horse battery", first, turn)).toEqual({ matches: true, outdated: false });
  expect(await checkPassword("horse batterz", first, turn)).toEqual({ matches: false, outdated: false });
});

test("a password typed on a keyboard that composes otherwise still matches", async () => {
  const stored = await hashPassword("caf\u00e9 au lait", turn);
  expect(await checkPassword("cafe\u0301 au lait", stored, turn)).toMatchObject({ matches: true });
});

test("a hash of older parameters matches and says that it is outdated", async () => {
  const nonce = Buffer.alloc(16, 7);
  const cheap = { memory: 8192, passes: 1, parallelism: 1 };
  const tag = argon2Sync("argon2id", { message: "old password", nonce, ...cheap, tagLength: 32 });
  const encode = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${encode(nonce)}$${encode(tag)}`;
  expect(await checkPassword("old password", stored, turn)).toEqual({ matches: true, outdated: true });
});

test("nobody's password matches nothing, even the one behind the stand-in", async () => {
  expect(await checkPassword("", null, turn)).toEqual({ matches: false, outdated: false });
});

test("two hashes at once and twenty waiting; whoever comes then is refused with a time to come back", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => checkPassword("x", null, turn)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(refused).toHaveLength(8);
  for (const error of refused)
    expect(error).toMatchObject({ code: "TOO_MANY_ATTEMPTS_TRY_LATER", retryAfterSeconds: 2 });
  await expect(checkPassword("x", null, turn)).resolves.toBeDefined();
});
