import { expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { commandRunner } from "../testing/run-command.ts";

test("G349 an operator's link sets a new password once; it needs a reason, is in the audit, and no suspended account gets one", async () => {
  const { db, call, signUp } = await testApp();
  const run = await commandRunner(db);
  const ada = await signUp();
  const make = () => run("users", "reset-link", ada.email, "--reason", "She stood before me");
  expect(await run("users", "reset-link", ada.email)).toMatchObject({ code: 1, stderr: /needs a reason/ });
  const { code, stdout } = await make();
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/localhost:4000\/reset-password\?oobCode=[\w-]{43}$/),
  ]);
  const identity = (verb: string, body: object) =>
    call("POST", `/identity/v1/accounts:${verb}?key=local`, undefined, body);
  const body = { oobCode: new URL(stdout).searchParams.get("oobCode"), newPassword: "Another password 7!" };
  expect((await identity("resetPassword", body)).statusCode).toBe(200);
  expect((await identity("resetPassword", body)).statusCode).toBe(400);
  const signIn = { email: ada.email, password: body.newPassword, returnSecureToken: true };
  expect((await identity("signInWithPassword", signIn)).statusCode).toBe(200);
  const acts = await db.selectFrom("audit").select(["act", "subject_id", "reason"]).execute();
  expect(acts).toEqual([{ act: "user.reset_link", subject_id: ada.id, reason: "She stood before me" }]);
  await run("users", "suspend", ada.email, "--reason", "Scans", "--now");
  expect(await make()).toMatchObject({ code: 1, stderr: `${ada.email} is suspended: lift that first` });
});
