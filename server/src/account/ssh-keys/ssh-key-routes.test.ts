import { expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { unusableKey } from "./read-public-key.ts";
import { authorizedKeysOf, findSshKey, markKeyUsed } from "./ssh-keys.ts";
import { newPublicKey, publicKeys } from "./testing/public-keys.ts";

async function setup() {
  const product = await testApp();
  const [ada, eve] = [await product.signUp("Ada"), await product.signUp("Eve")];
  const path = `/settings/${ada.id}/ssh-keys`;
  const add = (public_key: string, name = "", user = ada) =>
    product.call("POST", `/settings/${user.id}/ssh-keys`, user.token, { name, public_key });
  const list = async () => (await product.must("GET", path, ada.token)).ssh_keys;
  return { ...product, ada, eve, path, add, list };
}

const [{ type, base64, fingerprint }] = publicKeys;

test("G410 a key is added with its name or its comment, listed, found by its fingerprint, marked once a minute, removed", async () => {
  const { add, list, path, ada, eve, call, must, db } = await setup();
  expect(await list()).toEqual([]);
  const first = await add(`${type} ${base64} ada@laptop`);
  const key = { id: expect.any(String), name: "ada@laptop", type, fingerprint, last_used_at: null };
  expect(first.json()).toEqual({
    status: "success",
    ssh_key: { ...key, created_at: expect.stringMatching(/Z$/) },
  });
  await must("POST", path, ada.token, { name: "  Work\u202e  desk ", public_key: newPublicKey() });
  await must("POST", path, ada.token, { name: "", public_key: newPublicKey("").trim() });
  expect((await list()).map(({ name }: { name: string }) => name)).toEqual(["SSH key", "Work desk", "ada@laptop"]);

  const found = await findSshKey(db, fingerprint);
  expect(found).toEqual({ userId: ada.id, keyId: first.json().ssh_key.id, publicKey: `${type} ${base64}` });
  expect(await authorizedKeysOf(db, ada.id)).toHaveLength(3);
  expect(await authorizedKeysOf(db, eve.id)).toEqual([]);
  const { keyId = "" } = found ?? {};
  await markKeyUsed(db, keyId);
  const used = async () => (await list()).at(-1).last_used_at;
  const usedAt = await used();
  expect(usedAt).toMatch(/Z$/);
  await markKeyUsed(db, keyId);
  expect(await used(), "at most once a minute").toBe(usedAt);

  const foreign = `/settings/${eve.id}/ssh-keys/${keyId}`;
  expect((await call("DELETE", foreign, eve.token, {})).statusCode).toBe(404);
  expect((await call("DELETE", `${path}/${keyId}`, ada.token, {})).json()).toEqual({ status: "success" });
  expect((await call("DELETE", `${path}/${keyId}`, ada.token, {})).statusCode).toBe(404);
  expect(await findSshKey(db, fingerprint)).toBeUndefined();
  expect(await list()).toHaveLength(2);
});

test("G411 the owner is told of a new key by bell and mail, whatever mails they chose", async () => {
  const { add, ada, must, db } = await setup();
  await must("PUT", `/settings/${ada.id}/flags`, ada.token, { securityAlerts: false, emailNotifications: false });
  await add(`${type} ${base64}`, "Laptop");
  const { notifications } = await must("GET", "/notifications", ada.token);
  expect(notifications[0]).toMatchObject({
    title: "An SSH key was added",
    body: expect.stringContaining(`Laptop (${type}, ${fingerprint}) opens your environments`),
    link: "/settings?tab=ssh-keys",
  });
  const mail = db.selectFrom("mails").select("recipient").where("subject", "=", "An SSH key was added");
  expect(await mail.execute()).toEqual([{ recipient: ada.email }]);
});

test("G411 the same key twice is said; one of another account is refused like one that is no use", async () => {
  const { add, eve, list } = await setup();
  const text = `${type} ${base64} ada@laptop`;
  await add(text, "Laptop");
  const again = await add(`${type} ${base64} another comment`, "Other");
  expect([again.statusCode, again.json()]).toMatchObject([
    409,
    { code: "action_not_allowed", message: "You already have this key: Laptop" },
  ]);
  const foreign = await add(text, "", eve);
  expect([foreign.statusCode, foreign.json()]).toMatchObject([400, { code: "invalid_request", message: unusableKey }]);
  expect(await list()).toHaveLength(1);
});

test("G410 a key that two accounts add at once is one's; an account that adds 25 at once has twenty", async () => {
  const { add, ada, eve, list, db } = await setup();
  const shared = newPublicKey();
  const codes = (await Promise.all([add(shared, "", ada), add(shared, "", eve)])).map(({ statusCode }) => statusCode);
  expect(codes.toSorted()).toEqual([200, 400]);
  await db.deleteFrom("ssh_keys").execute();
  const many = await Promise.all(Array.from({ length: 25 }, () => add(newPublicKey())));
  expect(many.filter(({ statusCode }) => statusCode === 200)).toHaveLength(20);
  const refused = many.find(({ statusCode }) => statusCode !== 200);
  expect(refused?.json()).toMatchObject({
    code: "action_not_allowed",
    message: "An account has 20 keys at most. Remove one of them first",
  });
  expect(await list()).toHaveLength(20);
});

test("G411 a private key is refused, and no line of the log has it", async () => {
  const { add, list, lines } = await setup();
  const secret = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ";
  const answer = await add(`-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().message).toMatch(/^This is a private key/);
  expect(JSON.stringify(lines())).not.toContain(secret);
  expect(await list()).toEqual([]);
});

test("G412 a removed key is told to the gateways, and a suspended account's keys are nobody's", async () => {
  const { add, ada, path, must, db, database } = await setup();
  const heard: string[] = [];
  await database.listen(
    "changes",
    (payload) => heard.push(payload),
    () => {},
  );
  const { id } = (await add(`${type} ${base64}`)).json().ssh_key;
  const suspension = { id: "s", user_id: ada.id, reason: "x" };
  await db.insertInto("account_suspensions").values(suspension).execute();
  expect(await findSshKey(db, fingerprint)).toBeUndefined();
  await db.deleteFrom("account_suspensions").execute();
  expect(await findSshKey(db, fingerprint)).toBeDefined();
  await must("DELETE", `${path}/${id}`, ada.token, {});
  await expect.poll(() => heard.map((each) => JSON.parse(each))).toContainEqual({ kind: "ssh_key", id, user: ada.id });
});
