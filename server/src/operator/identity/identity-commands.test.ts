import { createCipheriv, randomBytes, scryptSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { firebaseHashText, matchesFirebaseHash } from "../../identity/local/firebase-scrypt.ts";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

const signerKey = randomBytes(64);
/** The console's text, with costs that a test can pay. */
const parameters = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: ${signerKey.toString("base64")},
  base64_salt_separator: Bw==,
  rounds: 1,
  mem_cost: 4,
}`;

/** An account as Firebase exports it. */
function exported(n: number, more: object = {}) {
  const salt = randomBytes(12);
  const separated = Buffer.concat([salt, Buffer.from("Bw==", "base64")]);
  const key = scryptSync(`password of ${n}`, separated, 32, { N: 16, r: 1, p: 1 });
  const passwordHash = createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(signerKey).toString("base64");
  const user = {
    localId: `firebase-${n}`,
    email: `Owner-${n}@uni.example`,
    emailVerified: true,
    displayName: `Owner ${n}`,
  };
  return {
    ...user,
    passwordHash,
    salt: salt.toString("base64"),
    createdAt: "1700000000000",
    providerUserInfo: [],
    ...more,
  };
}

async function setup() {
  const { db, call, signUp } = await testApp();
  const run = await commandRunner(db);
  const folder = mkdtempSync(join(tmpdir(), "berth-users-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string | object) => {
    const path = join(folder, name);
    writeFileSync(path, typeof text === "string" ? text : JSON.stringify(text));
    return path;
  };
  const signIn = (email: string, password: string) =>
    call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, { email, password });
  const because = ["--reason", "We leave Firebase"];
  return { db, run, folder, file, signIn, signUp, because, hash: file("hash.txt", parameters) };
}

test("Firebase's own example of its scrypt matches, and no other password does", async () => {
  const stored = firebaseHashText({
    signerKey: "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    saltSeparator: "Bw==",
    ...{ rounds: 8, memoryCost: 14, salt: "42xEC+ixf3L2lw==" },
    hash: "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
  });
  expect(await matchesFirebaseHash("user1password", stored)).toBe(true);
  expect(await matchesFirebaseHash("user2password", stored)).toBe(false);
});

test("G322 a thousand accounts of Firebase sign in with their passwords, which become argon2id", async () => {
  const { db, run, file, signIn, signUp, because, hash } = await setup();
  const ada = await signUp();
  const users = file("users.json", {
    users: [
      ...Array.from({ length: 1_000 }, (_, n) => exported(n, { disabled: n === 7 })),
      exported(1_000, { email: ada.email }),
      exported(1_001, { email: undefined }),
      exported(1_002, { email: "OWNER-3@uni.example" }),
    ],
  });
  expect(await run("identity", "import", users, "--hash", hash)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  const first = await run("identity", "import", users, "--hash", hash, ...because);
  expect(first.stdout.split("\n")[0]).toBe("1000 accounts are imported, 0 were here before, 3 are refused");
  for (const n of [1_000, 1_001, 1_002]) expect(first.stdout).toContain(`firebase-${n}:`);

  const stored = async (n: number) =>
    (await db.selectFrom("identity_user").selectAll().where("id", "=", `firebase-${n}`).executeTakeFirstOrThrow())
      .password_hash;
  expect(await stored(999)).toMatch(/^\$firebase-scrypt\$/);
  expect((await signIn("owner-999@uni.example", "password of 998")).statusCode).toBe(400);
  for (const _ of ["scrypt", "argon2id"]) {
    const reply = await signIn("owner-999@uni.example", "password of 999");
    expect(reply.json()).toMatchObject({ localId: "firebase-999", email: "Owner-999@uni.example" });
    expect(await stored(999)).toMatch(/^\$argon2id\$/);
  }
  const changed = await stored(999);
  expect((await signIn("owner-7@uni.example", "password of 7")).json().error.message).toMatch(/^USER_DISABLED/);
  await run("users", "lift", "firebase-7", "--reason", "It was a mistake");
  expect((await signIn("owner-7@uni.example", "password of 7")).statusCode).toBe(200);

  const again = await run("identity", "import", users, "--hash", hash, ...because);
  expect(again.stdout.split("\n")[0]).toBe("0 accounts are imported, 1000 were here before, 3 are refused");
  expect(await stored(999)).toBe(changed);
});

test("G322 an export is Firebase's file without passwords, for its reader alone, and is imported as it is", async () => {
  const { db, run, folder, signUp, because } = await setup();
  const ada = await signUp();
  const path = join(folder, "out.json");
  expect(await run("identity", "export", path)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await run("identity", "export", path, ...because)).toMatchObject({ code: 0, stdout: /^1 accounts are in/ });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { users } = JSON.parse(readFileSync(path, "utf8"));
  expect(users).toEqual([
    expect.objectContaining({ localId: ada.id, email: ada.email, emailVerified: false, disabled: false }),
  ]);
  expect(readFileSync(path, "utf8")).not.toContain("argon2");
  expect(await run("identity", "export", path, ...because)).toMatchObject({ code: 1, stderr: /cannot be written/ });
  // A mirrored account becomes one of our own.
  await db.updateTable("identity_user").set({ signed_in_since: new Date(), password_hash: null }).execute();
  expect((await run("identity", "import", path, ...because)).stdout).toMatch(/^1 accounts are imported/);
  const acts = await db.selectFrom("audit").select(["act", "details"]).orderBy("id").execute();
  expect(acts).toEqual([
    { act: "accounts.export", details: { exported: 1 } },
    { act: "accounts.import", details: { imported: 1, refused: 0 } },
  ]);
});

test.each([
  ["no JSON", "users:", parameters, "This is no users.json of Firebase: the file has another form"],
  ["another list", { users: [{ uid: "a" }] }, parameters, "users.0.localId has another form"],
  ["parameters of nothing", { users: [] }, "hash_config {}", "These are no password hash parameters"],
  [
    "costs that would take the machine",
    { users: [] },
    parameters.replace("mem_cost: 4", "mem_cost: 40"),
    "no password hash",
  ],
])("refuses %s with a sentence", async (_, users, hash, sentence) => {
  const { run, file, because } = await setup();
  const typed = ["identity", "import", file("users.json", users), "--hash", file("other.txt", hash), ...because];
  const { code, stderr } = await run(...typed);
  expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});
