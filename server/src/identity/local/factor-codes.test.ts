import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { codeOf } from "../../testing/factor-code.ts";
import { device, outcome, testInstallation } from "../testing/test-installation.ts";

const { db, setup } = await testInstallation();

test("the codes of a day are used up by who has the password, not given back by a sign-in, but by a new password by mail", async () => {
  const { identity, email, user } = await setup();
  const secret = await identity.secondFactors.begin(user.uid);
  await identity.secondFactors.confirm(user.uid, codeOf(secret), null);
  const day = db
    .updateTable("attempt_windows")
    .where("key", "=", hash("sha256", `second factor, day\0${user.uid}`, "buffer"));
  const signIn = async (password: string, code: string) => {
    const begun = await identity.signIn(email, password, device);
    if (!("pendingCredential" in begun)) throw new Error("no code was asked for");
    return outcome(identity.finishSignIn(begun.pendingCredential, code, device));
  };
  await day.set({ count: 98 }).execute();
  expect(await signIn("First password 1!", codeOf(secret, 1))).toBe("ok");
  expect(await signIn("First password 1!", "aaaaaa")).toBe("INVALID_CODE");
  expect(await signIn("First password 1!", codeOf(secret))).toBe("TOO_MANY_ATTEMPTS_TRY_LATER");
  const link = (await identity.createActionCode("PASSWORD_RESET", email)) ?? "";
  await identity.resetPassword(link, "Second password 2!");
  await db.updateTable("identity_second_factors").set({ last_step: null }).execute();
  expect(await signIn("Second password 2!", codeOf(secret))).toBe("ok");
});
