import { expect, test } from "vitest";
import { codeOf } from "../../testing/factor-code.ts";
import { softwarePasskey } from "../../testing/software-passkey.ts";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

test("G400 an operator turns a second factor off with a reason: sign-ins end, the owner and the audit are told", async () => {
  const { db, call, must, signUp } = await testApp();
  const run = await commandRunner(db);
  const ada = await signUp();
  const remove = (...rest: string[]) => run("users", "remove-factor", ada.email, ...rest);
  const why = ["--reason", "She lost her phone"];
  expect(await remove(...why)).toMatchObject({ code: 1, stderr: `${ada.email} has no second factor and no passkey` });
  const path = `/settings/${ada.id}/second-factor`;
  const { secret } = await must("POST", path, ada.token, { password: "good password 1" });
  expect(await remove(...why), "offered, not confirmed").toMatchObject({ code: 1 });
  await must("POST", `${path}/confirm`, ada.token, { code: codeOf(secret) });
  expect(await remove()).toMatchObject({ code: 1, stderr: /needs a reason/ });
  expect(await remove(...why)).toMatchObject({ code: 0, stdout: /signs in with the password alone/ });
  expect((await call("GET", "/auth/validate", ada.token)).statusCode).toBe(401);
  const signIn = { email: ada.email, password: "good password 1", returnSecureToken: true };
  expect(
    (await must("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, signIn)).idToken,
  ).toBeDefined();
  const acts = await db.selectFrom("audit").select(["act", "subject_id", "reason"]).execute();
  expect(acts).toEqual([{ act: "user.remove_factor", subject_id: ada.id, reason: "She lost her phone" }]);
  const mails = await db.selectFrom("mails").select(["subject", "body_text"]).where("user_id", "=", ada.id).execute();
  expect(mails).toContainEqual({
    subject: "Two-factor sign-in is off",
    body_text: expect.stringContaining("We turned it off for you: She lost her phone."),
  });
  expect(await db.selectFrom("identity_recovery_codes").selectAll().execute()).toEqual([]);
});

test("G426 the operator's act removes passkeys too, with the factor or alone: they sign nobody in, and sign-ins end", async () => {
  const { db, call, must, signUp } = await testApp();
  const run = await commandRunner(db);
  const bob = await signUp();
  const path = `/settings/${bob.id}/passkeys`;
  const { options } = await must("POST", `${path}/options`, bob.token, { password: "good password 1" });
  const device = softwarePasskey();
  await must("POST", path, bob.token, { name: "Phone", credential: device.create(options) });
  const remove = () => run("users", "remove-factor", bob.email, "--reason", "He lost his phone");
  expect(await remove()).toMatchObject({ code: 0 });
  expect((await call("GET", "/auth/validate", bob.token)).statusCode).toBe(401);
  const begun = await must("POST", "/auth/passkeys/sign-in/options", undefined, {});
  const body = { credential: device.use(begun.options) };
  expect((await call("POST", "/auth/passkeys/sign-in", undefined, body)).json().code).toBe("passkey_refused");
  expect(await db.selectFrom("audit").select(["act", "reason"]).execute()).toEqual([
    { act: "user.remove_factor", reason: "He lost his phone" },
  ]);
  const mails = await db.selectFrom("mails").select(["subject", "body_text"]).where("user_id", "=", bob.id).execute();
  expect(mails).toContainEqual({
    subject: "Your passkeys were removed",
    body_text: expect.stringContaining("We removed them for you: He lost his phone."),
  });
  expect(await remove()).toMatchObject({ code: 1 });
});
