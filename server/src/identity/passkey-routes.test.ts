import { maxPasskeys } from "@berth/contract";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { handleErrors } from "../http/handle-errors.ts";
import { codeOf } from "../testing/factor-code.ts";
import { type Deviation, softwarePasskey } from "../testing/software-passkey.ts";
import { type TestUser, testApp } from "../testing/test-app.ts";
import type { Identity } from "./identity.ts";
import { passkeyRoutes } from "./passkey-routes.ts";

const password = "good password 1";
const late = "This took too long, or it was used before. Try again.";
const unknown =
  "This passkey is not known here. Log in with your password; passkeys are added under Settings, Security.";
const elsewhere = "This passkey was used at another address. Open http://localhost:3000 itself.";
const unverified = "The device did not check that it is you. Use a passkey with a PIN, a fingerprint or a face.";

type Device = ReturnType<typeof softwarePasskey>;

async function setup(env: Record<string, string> = {}) {
  const product = await testApp(env);
  const { call, must, signUp, db } = product;
  const path = ({ id }: TestUser) => `/settings/${id}/passkeys`;
  const begin = async (user: TestUser, proof: object = { password }) =>
    (await must("POST", `${path(user)}/options`, user.token, proof)).options;
  const add = async (user: TestUser, device: Device, name = "Laptop", proof: object = { password }) => {
    const credential = device.create(await begin(user, proof));
    return (await must("POST", path(user), user.token, { name, credential })).passkey;
  };
  const challenge = async () => (await must("POST", "/auth/passkeys/sign-in/options", undefined, {})).options;
  const send = (credential: object) => call("POST", "/auth/passkeys/sign-in", undefined, { credential });
  const signIn = async (device: Device, deviation: Deviation = {}) =>
    (await send(device.use(await challenge(), deviation))).json();
  const mails = async ({ id }: TestUser) =>
    (await db.selectFrom("mails").select("subject").where("user_id", "=", id).execute()).map(({ subject }) => subject);
  const isSignedIn = async (token: string) => (await call("GET", "/auth/validate", token)).statusCode === 200;

  async function enrol(device = softwarePasskey()) {
    const user = await signUp();
    return { user, device, passkey: await add(user, device) };
  }
  return { ...product, path, begin, add, challenge, send, signIn, mails, isSignedIn, enrol };
}

test("G424 a passkey is added with the password, signs in alone, is listed, and signs nobody in once it is removed", async () => {
  const { call, must, signUp, path, begin, add, signIn, mails, isSignedIn } = await setup();
  const user = await signUp();
  const list = () => must("GET", path(user), user.token);
  expect(await list()).toEqual({ status: "success", passkeys: [], proof: "password", unavailable: null });
  const refused = async (proof: object) => (await call("POST", `${path(user)}/options`, user.token, proof)).json();
  expect(await refused({})).toMatchObject({ code: "wrong_password", message: "Type your password" });
  expect(await refused({ password: "wrong" })).toMatchObject({ code: "wrong_password" });
  expect(await begin(user)).toMatchObject({
    rp: { id: "localhost", name: "Berth" },
    user: { name: user.email },
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    attestation: "none",
  });
  const device = softwarePasskey();
  const added = await add(user, device, "  Ada's\nlaptop ");
  expect(added).toMatchObject({ name: "Ada's laptop", last_used_at: null, backed_up: false });
  expect((await begin(user)).excludeCredentials).toEqual([{ type: "public-key", id: device.id }]);

  const signedIn = await signIn(device);
  expect(signedIn).toMatchObject({ status: "success", user_id: user.id, email: user.email, expires_in: 3600 });
  expect(await isSignedIn(signedIn.id_token)).toBe(true);
  expect((await list()).passkeys).toMatchObject([{ id: added.id, last_used_at: expect.stringMatching(/Z$/) }]);
  const { sign_ins } = await must("GET", `/settings/${user.id}/sign-ins`, user.token);
  expect(sign_ins, "ended like any other").toHaveLength(2);

  const one = `${path(user)}/${added.id}`;
  expect((await call("DELETE", one, user.token, {})).json()).toMatchObject({ code: "wrong_password" });
  await must("DELETE", one, user.token, { password });
  expect((await call("DELETE", one, user.token, { password })).statusCode).toBe(404);
  expect(await signIn(device)).toMatchObject({ code: "passkey_refused", message: unknown });
  expect((await list()).passkeys).toEqual([]);
  expect(await mails(user)).toEqual(expect.arrayContaining(["A passkey was added", "A passkey was removed"]));
});

test("G424 where two-factor sign-in is on, adding and removing ask for a code, and a passkey is asked for none", async () => {
  const { db, call, must, signUp, path, add, signIn, isSignedIn } = await setup();
  const user = await signUp();
  const factor = `/settings/${user.id}/second-factor`;
  const { secret } = await must("POST", factor, user.token, { password });
  await must("POST", `${factor}/confirm`, user.token, { code: codeOf(secret) });
  expect((await must("GET", path(user), user.token)).proof).toBe("code");
  const waitForCode = () => db.updateTable("identity_second_factors").set({ last_step: null }).execute();
  const refused = async (proof: object) => (await call("POST", `${path(user)}/options`, user.token, proof)).json();
  expect(await refused({ password })).toMatchObject({ message: "Type a code of your app, or a recovery code" });
  expect(await refused({ code: codeOf(secret) }), "each works once").toMatchObject({ code: "wrong_password" });
  await waitForCode();
  const device = softwarePasskey();
  const added = await add(user, device, "Key", { code: codeOf(secret) });
  expect(await isSignedIn((await signIn(device)).id_token)).toBe(true);
  const one = `${path(user)}/${added.id}`;
  expect((await call("DELETE", one, user.token, { password })).json()).toMatchObject({ code: "wrong_password" });
  await waitForCode();
  await must("DELETE", one, user.token, { code: codeOf(secret) });
});

test("G425 a sign-in with a passkey that is not right is refused in one sentence, which tells nothing about accounts", async () => {
  const { enrol, signIn, challenge, send, begin, db } = await setup();
  const { user, device } = await enrol();
  const unheardOf = softwarePasskey();
  const { challenge: added } = await begin(user);
  const cases: Readonly<Record<string, readonly [Deviation, string]>> = {
    "an environment's page": [{ origin: "http://first-lab.localhost:3000" }, elsewhere],
    "another site": [{ origin: "https://evil.example" }, elsewhere],
    "a page in another one's frame": [{ crossOrigin: true }, elsewhere],
    "another relying party": [{ rpId: "evil.example" }, unknown],
    "an owner whom nobody checked": [{ verifies: false }, unverified],
    "a reply to adding": [{ type: "webauthn.create" }, unknown],
    "a challenge of adding": [{ challenge: added }, late],
    "a challenge of its own": [{ challenge: Buffer.alloc(54, 1).toString("base64url") }, late],
    "no challenge": [{ challenge: "" }, late],
  };
  for (const [name, [deviation, message]] of Object.entries(cases)) {
    const reply = await signIn(device, deviation);
    expect(reply, name).toEqual({ status: "error", code: "passkey_refused", message, detail: message });
    if (message !== unverified) expect(await signIn(unheardOf, deviation), `${name}, unknown`).toEqual(reply);
  }
  expect(await signIn(unheardOf)).toMatchObject({ code: "passkey_refused", message: unknown });

  const good = device.use(await challenge());
  const bad = {
    ...good,
    response: { ...good.response, signature: good.response.signature.replace(/.{8}$/, "AAAAAAAA") },
  };
  expect((await send(bad)).json()).toMatchObject({ message: unknown });
  const foreign = { ...good, response: { ...good.response, userHandle: "c29tZWJvZHk" } };
  expect((await send(foreign)).json()).toMatchObject({ message: unknown });
  const both = await Promise.all([send(good), send(good)]);
  expect(both.map(({ statusCode }) => statusCode).toSorted(), "of two replays one wins").toEqual([200, 400]);
  expect((await send(good)).json()).toMatchObject({ message: late });
  expect(
    await db.selectFrom("identity_spent_challenges").select("hash").execute(),
    "of refused ones none",
  ).toHaveLength(2);
  for (const body of [{}, { ...good, id: "" }, { ...good, type: "password" }, { ...good, response: {} }])
    expect((await send(body)).json(), "no passkey").toMatchObject({ code: "invalid_request" });
  const garbage = { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" };
  expect((await send({ ...good, response: garbage })).json()).toMatchObject({ message: late });
  const short = device.use(await challenge());
  expect((await send({ ...short, response: { ...short.response, authenticatorData: "AAAA" } })).json()).toMatchObject({
    message: unknown,
  });
});

test("G425 a count that goes back is a copy: refused, told once, and the owner's device goes on; one that never counts signs in", async () => {
  const { enrol, signIn, mails, db } = await setup();
  const { user, device } = await enrol();
  expect((await signIn(device, { count: 7 })).status).toBe("success");
  for (const count of [7, 6, 0])
    expect(await signIn(device, { count })).toMatchObject({
      code: "passkey_refused",
      message: expect.stringMatching(/^This passkey may have been copied/),
    });
  expect((await mails(user)).filter((subject) => subject === "A passkey was refused")).toHaveLength(1);
  expect((await signIn(device, { count: 8 })).status).toBe("success");
  const [kept] = await db.selectFrom("identity_passkeys").select("sign_count").execute();
  expect(kept?.sign_count).toBe(8);

  const plain = (await enrol(softwarePasskey({ counts: false }))).device;
  expect((await signIn(plain)).status).toBe("success");
  expect((await signIn(plain)).status).toBe("success");
});

test("G425 a passkey of a suspended account says so and signs nobody in, one of a deleted account is unknown; a reset keeps it", async () => {
  const { enrol, signIn, identity, isSignedIn, call, mails } = await setup();
  const { user, device } = await enrol();
  const oobCode = (await identity.createActionCode("PASSWORD_RESET", user.email)) ?? "";
  const reset = { oobCode, newPassword: "Another password 7!" };
  expect((await call("POST", "/identity/v1/accounts:resetPassword?key=local", undefined, reset)).statusCode).toBe(200);
  expect(await isSignedIn(user.token)).toBe(false);
  expect(await isSignedIn((await signIn(device)).id_token)).toBe(true);
  expect(await mails(user)).toContain("Your password was changed");
  await identity.updateUser(user.id, { disabled: true });
  expect(await signIn(device)).toMatchObject({
    code: "passkey_refused",
    message: expect.stringMatching(/^This account is suspended\. Write to .+@/),
  });
  await identity.updateUser(user.id, { disabled: false });
  expect((await signIn(device)).status).toBe("success");
  await identity.deleteUser(user.id);
  expect(await signIn(device)).toMatchObject({ message: unknown });
});

test("G424 nobody adds a passkey with another one's challenge, twice, from another page, or more than ten", async () => {
  const { call, must, signUp, path, begin, add, enrol, db } = await setup();
  const { user, device } = await enrol();
  const other = await signUp();
  const send = async (to: TestUser, credential: object, name = "Key") =>
    (await call("POST", path(to), to.token, { name, credential })).json();
  const made = (deviation: Deviation, from = user) =>
    begin(from).then((options) => softwarePasskey().create(options, deviation));
  const unreadable = "This passkey could not be read. Try again, or use another device.";
  expect(await send(user, await made({ origin: "http://first-lab.localhost:3000" }))).toMatchObject({
    message: elsewhere,
  });
  expect(await send(user, await made({ verifies: false }))).toMatchObject({ message: unverified });
  expect(await send(user, await made({ rpId: "evil.example" }))).toMatchObject({ message: unreadable });
  expect(await send(user, await made({ type: "webauthn.get" }))).toMatchObject({ message: unreadable });
  expect(await send(other, await made({})), "of another account").toMatchObject({ message: late });
  const signIn = { email: user.email, password, returnSecureToken: true };
  const { idToken } = await must("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, signIn);
  const foreign = await made({});
  expect(
    (await call("POST", path(user), idToken, { name: "Key", credential: foreign })).json(),
    "of another sign-in",
  ).toMatchObject({
    message: late,
  });
  const { response, ...ids } = await made({});
  const garbage = { ...ids, response: { ...response, attestationObject: "AAAA" } };
  expect(await send(user, garbage)).toMatchObject({ message: unreadable });
  expect(await send(user, { ...ids, response }, "  ")).toMatchObject({ code: "invalid_request" });

  const twice = await made({});
  expect((await send(user, twice)).status).toBe("success");
  expect(await send(user, twice)).toMatchObject({ message: late });
  expect(await send(other, device.create(await begin(other)))).toMatchObject({
    message: "This passkey was added before",
  });
  for (let held = 2; held < maxPasskeys; held += 1) await add(user, softwarePasskey());
  expect((await call("POST", `${path(user)}/options`, user.token, { password })).json()).toMatchObject({
    code: "action_not_allowed",
    message: "An account has at most 10 passkeys. Remove one first.",
  });
  const foreignId = (await must("GET", path(user), user.token)).passkeys[0].id;
  expect((await call("DELETE", `${path(other)}/${foreignId}`, other.token, { password })).statusCode).toBe(404);
  expect(await db.selectFrom("identity_passkeys").select("id").execute()).toHaveLength(maxPasskeys);
});

test("G425 tries of one passkey from one network are limited as passwords are", async () => {
  const { enrol, send, challenge } = await setup({ SIGN_INS_PER_MINUTE: "3" });
  const { device } = await enrol();
  const bad = async () => send(device.use(await challenge(), { origin: "https://evil.example" }));
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push((await bad()).statusCode);
  expect(statuses).toEqual([400, 400, 400, 429]);
  const held = await send(device.use(await challenge()));
  expect([held.statusCode, held.json().code]).toEqual([429, "rate_limited"]);
});

test("G424 where the address or the provider allows no passkeys, each call says why in one sentence", async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    request.user = { id: "u1", email: "ada@uni.example", emailVerified: true, name: "", sessionId: null };
  });
  passkeyRoutes(app, { identity: { passkeys: null } as Identity, brandName: "Berth", contact: "a@b.example" });
  const credential = softwarePasskey().use({ rpId: "x", challenge: "eA", timeout: 1, userVerification: "required" });
  for (const [method, url, payload] of [
    ["GET", "/settings/u1/passkeys", undefined],
    ["POST", "/settings/u1/passkeys/options", {}],
    ["DELETE", "/settings/u1/passkeys/p1", {}],
    ["POST", "/auth/passkeys/sign-in/options", {}],
    ["POST", "/auth/passkeys/sign-in", { credential }],
  ] as const) {
    const reply = await app.inject({ method, url, ...(payload && { payload }) });
    expect([reply.statusCode, reply.json().message], url).toEqual([
      409,
      "Accounts here are Firebase's, so passkeys are not offered",
    ]);
  }
});
