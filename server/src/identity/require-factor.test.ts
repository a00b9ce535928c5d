import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { codeOf } from "../testing/factor-code.ts";
import { softwarePasskey } from "../testing/software-passkey.ts";
import { testApp } from "../testing/test-app.ts";

const password = "good password 1";

test("G402 where a factor is required an account without one can set it up, ask for help and leave, and nothing else", async () => {
  const { call, must, signUp } = await testApp({ SECOND_FACTOR: "required" });
  const ada = await signUp();
  const refused = await call("GET", `/profile/${ada.id}`, ada.token);
  expect([refused.statusCode, refused.json()]).toEqual([
    403,
    expect.objectContaining({ code: "second_factor_required", message: expect.stringMatching(/^Set up two-factor/) }),
  ]);
  const bearer = ["GET /auth/validate", "GET /events", "POST /docker/payments/create_order", "GET /environments/x"];
  for (const [method, path] of bearer.map((each) => each.split(" ") as ["GET" | "POST", string]))
    expect((await call(method, path, ada.token, method === "POST" ? {} : undefined)).statusCode, path).toBe(403);
  const path = `/settings/${ada.id}/second-factor`;
  expect(await must("GET", path, ada.token)).toMatchObject({ since: null, mode: "required" });
  await must("GET", `/settings/${ada.id}`, ada.token);
  const ticket = { issueType: "other", description: "No phone.", userEmail: ada.email, userId: ada.id };
  await must("POST", "/support/tickets", ada.token, ticket);
  await must("GET", `/profile/${ada.id}/export`, ada.token);
  const { secret } = await must("POST", path, ada.token, { password });
  await must("POST", `${path}/confirm`, ada.token, { code: codeOf(secret) });
  await must("GET", `/profile/${ada.id}`, ada.token);
  const kept = await call("DELETE", path, ada.token, { code: codeOf(secret, 1) });
  expect([kept.statusCode, kept.json().message]).toEqual([409, expect.stringMatching(/is required here/)]);
  const ben = await signUp();
  await must("POST", "/auth/logout", ben.token, {});
});

test("G433 where a factor is required a sign-in by a passkey has it, and one by the password of that account has not", async () => {
  const { call, must, signUp } = await testApp({ SECOND_FACTOR: "required" });
  const ada = await signUp();
  const path = `/settings/${ada.id}/passkeys`;
  const device = softwarePasskey();
  const { options } = await must("POST", `${path}/options`, ada.token, { password });
  await must("POST", path, ada.token, { name: "Laptop", credential: device.create(options) });
  expect((await call("GET", `/profile/${ada.id}`, ada.token)).json()).toMatchObject({
    code: "second_factor_required",
    message: expect.stringMatching(/or log in with a passkey$/),
  });
  const begun = await must("POST", "/auth/passkeys/sign-in/options", undefined, {});
  const credential = device.use(begun.options);
  const { id_token: token } = await must("POST", "/auth/passkeys/sign-in", undefined, { credential });
  await must("GET", `/profile/${ada.id}`, token);
  const { sign_ins } = await must("GET", `/settings/${ada.id}/sign-ins`, token);
  expect(sign_ins).toMatchObject([
    { current: true, by_passkey: true },
    { current: false, by_passkey: false },
  ]);
});

test("off offers no new factor, and asks an account that has one", async () => {
  const { call, must, signUp, identity } = await testApp({ SECOND_FACTOR: "off" });
  const ada = await signUp();
  const path = `/settings/${ada.id}/second-factor`;
  const secret = await identity.secondFactors.begin(ada.id);
  await identity.secondFactors.confirm(ada.id, codeOf(secret), null);
  const body = { email: ada.email, password, returnSecureToken: true };
  const signIn = () => must("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, body);
  const { idToken, mfaPendingCredential } = await signIn();
  expect(idToken).toBeUndefined();
  const code = { mfaPendingCredential, totpVerificationInfo: { verificationCode: codeOf(secret, 1) } };
  const signedIn = await must("POST", "/identity/v2/accounts/mfaSignIn:finalize?key=local", undefined, code);
  const again = await call("POST", path, signedIn.idToken, { password });
  expect([again.statusCode, again.json().message]).toEqual([409, "Two-factor sign-in is not offered here"]);
});

test("a hosted provider's factor is not required here", () => {
  const env = { IDENTITY: "firebase", FIREBASE_PROJECT_ID: "berth-1a2b3", FIREBASE_API_KEY: "any" };
  expect(() =>
    readConfig({ ...env, FIREBASE_AUTH_EMULATOR_HOST: "127.0.0.1:9099", SECOND_FACTOR: "required" }),
  ).toThrow(/SECOND_FACTOR=required is for IDENTITY=local/);
});
