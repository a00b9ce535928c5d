import { expect, test } from "vitest";
import { codeOf } from "../testing/factor-code.ts";
import { testApp } from "../testing/test-app.ts";

const password = "good password 1";

test("G403 sign-ins are listed with device and address; one ends, or all others with trust in browsers", async () => {
  const { app, call, must, signUp, db } = await testApp();
  const ada = await signUp();
  const eve = await signUp();
  const elsewhere = async (agent: string) => {
    const url = "/identity/v1/accounts:signInWithPassword?key=local";
    const headers = { "user-agent": agent };
    const payload = { email: ada.email, password, returnSecureToken: true };
    return (await app.inject({ method: "POST", url, headers, payload, remoteAddress: "203.0.113.9" })).json();
  };
  const phone = await elsewhere("Phone/1");
  const desk = await elsewhere("Desk/1");
  const path = `/settings/${ada.id}/sign-ins`;
  const list = async () => (await must("GET", path, ada.token)).sign_ins;
  const listed: { id: string; user_agent: string }[] = await list();
  expect(listed).toHaveLength(3);
  expect(listed).toContainEqual({
    ...{ id: expect.any(String), user_agent: "Phone/1", ip: "203.0.113.9", by_passkey: false, current: false },
    provider: null,
    ...{ created_at: expect.stringMatching(/Z$/), last_used_at: expect.stringMatching(/Z$/) },
  });
  const own = ada.refreshToken.split(".")[0];
  expect(listed.filter((each) => each.id === own)).toMatchObject([{ current: true }]);
  const phoneId = listed.find(({ user_agent }) => user_agent === "Phone/1")?.id ?? "";
  for (const [id, token] of [["nobody", ada.token] as const, [phoneId, eve.token] as const]) {
    const user = token === eve.token ? eve : ada;
    expect((await call("DELETE", `/settings/${user.id}/sign-ins/${id}`, token, {})).statusCode).toBe(404);
  }
  const valid = async ({ idToken }: { idToken: string }) =>
    (await call("GET", "/auth/validate", idToken)).statusCode === 200;
  await must("DELETE", `${path}/${phoneId}`, ada.token, {});
  expect([await valid(phone), await valid(desk)]).toEqual([false, true]);

  const factor = `/settings/${ada.id}/second-factor`;
  const { secret } = await must("POST", factor, ada.token, { password });
  await must("POST", `${factor}/confirm`, ada.token, { code: codeOf(secret) });
  const { mfaPendingCredential } = await elsewhere("Desk/2");
  const totpVerificationInfo = { verificationCode: codeOf(secret, 1) };
  const body = { mfaPendingCredential, totpVerificationInfo, trustBrowser: true };
  const trusted = await must("POST", "/identity/v2/accounts/mfaSignIn:finalize?key=local", undefined, body);
  await must("DELETE", path, ada.token, {});
  expect([await valid(trusted), await valid({ idToken: ada.token })]).toEqual([false, true]);
  expect(await list()).toMatchObject([{ id: own, current: true }]);
  expect(await db.selectFrom("identity_trusted_browsers").select("user_id").execute()).toEqual([]);
});
