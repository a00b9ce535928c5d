import { sql } from "kysely";
import { newId } from "../../database/new-id.ts";
import { codeOf } from "../../testing/factor-code.ts";
import type { TestUser } from "../../testing/test-app.ts";
import type { Shown } from "./access-callers.ts";
import type { World } from "./setup-access.ts";

const password = "good password 1";
const another = "Another good one 2!";

/** Bodies of each call that signs in or acts by what its body shows, with what must not be enough. */
export async function refusedCredentials(
  world: World,
  tokens: Shown<string>,
): Promise<ReadonlyMap<string, Shown<unknown>>> {
  const { identity, victim, signUp } = world;
  const disabled = await signUp();
  await identity.updateUser(disabled.id, { disabled: true });
  const codes = await deadCodes(world);
  const refresh: Shown<string> = [
    ["an ID token", victim.token],
    ["another MAC", victim.refreshToken.replace(/.{5}$/, "AAAAA")],
    ["the next generation", victim.refreshToken.replace(/\.(\d+)\./, (_, now) => `.${Number(now) + 1}.`)],
    ["of a suspended account", disabled.refreshToken],
    ...(await endedRefreshTokens(world)),
    ...tokens.filter(([name]) => name !== "a refresh token"),
  ];
  const idTokens = [["an ID token", victim.token] as const, ...tokens];
  return new Map<string, Shown<unknown>>([
    ["POST /identity/v1/accounts::signInWithPassword", passwords(world, disabled)],
    [
      "POST /identity/v1/accounts::signInWithCustomToken",
      by([["nothing", ""], ...codes.custom, ...idTokens], (token) => ({ token })),
    ],
    [
      "POST /identity/v1/accounts::resetPassword",
      by([...codes.reset, ...tokens], (oobCode) => ({ oobCode, newPassword: another })),
    ],
    [
      "POST /identity/v1/accounts::update",
      [
        ...by(tokens, (idToken) => ({ idToken, password: another })),
        ...by(tokens, (idToken) => ({ idToken, displayName: "Mallory" })),
        ...by(codes.verify, (oobCode) => ({ oobCode })),
      ],
    ],
    ["POST /identity/v1/accounts::lookup", by(tokens, (idToken) => ({ idToken }))],
    [
      "POST /identity/v2/accounts/mfaSignIn::finalize",
      [
        ...by(idTokens, (credential) => secondStep(credential, "123456")),
        ["a wrong code", secondStep(await pending(world), "12345")],
        ["a recovery code of nobody", secondStep(await pending(world), "AAAA-AAAA-AAAA")],
      ],
    ],
    ["POST /identity/v1/token", by(refresh, (refresh_token) => ({ grant_type: "refresh_token", refresh_token }))],
  ]);
}

const by = (credentials: Shown<string>, body: (credential: string) => unknown): Shown<unknown> =>
  credentials.map(([name, credential]) => [name, body(credential)]);

function passwords({ victim, outsider }: World, disabled: TestUser): Shown<unknown> {
  const signIn = (email: string, given: string) => ({ email, password: given, returnSecureToken: true });
  return [
    ["nothing", {}],
    ["a wrong password", signIn(victim.email, "wrong password 1")],
    ["another spelling of the password", signIn(victim.email, password.toUpperCase())],
    ["nobody's address", signIn("nobody@example.com", password)],
    ["the password of a suspended account", signIn(disabled.email, password)],
    ["two addresses", signIn(`${victim.email},${outsider.email}`, password)],
    ["a token as the password", signIn(victim.email, victim.token)],
    ["a pattern as the address", signIn("%@example.com", password)],
  ];
}

const secondStep = (mfaPendingCredential: string, verificationCode: string) => ({
  mfaPendingCredential,
  totpVerificationInfo: { verificationCode },
});

/** What the right password of an account with a second factor is answered with. */
async function pending({ must, signUp }: World): Promise<string> {
  const user = await signUp();
  const path = `/settings/${user.id}/second-factor`;
  const { secret } = await must("POST", path, user.token, { password });
  await must("POST", `${path}/confirm`, user.token, { code: codeOf(secret) });
  const reply = await must("POST", "/identity/v1/accounts:signInWithPassword", undefined, {
    email: user.email,
    password,
    returnSecureToken: true,
  });
  if ("idToken" in reply) throw new Error("a password was enough where a second factor is on");
  return reply.mfaPendingCredential;
}

/** Codes that are used up, over, replaced, or for another purpose. */
async function deadCodes({ db, identity, must, signUp }: World) {
  const user = await signUp();
  const mailed = async (kind: "PASSWORD_RESET" | "VERIFY_EMAIL", { email }: TestUser = user) =>
    (await identity.createActionCode(kind, email)) ?? "";
  const spent = await identity.createCustomToken(user.id);
  await must("POST", "/identity/v1/accounts:signInWithCustomToken", undefined, { token: spent });
  const over = await signUp();
  const late = {
    custom: await identity.createCustomToken(over.id),
    reset: await mailed("PASSWORD_RESET", over),
    verify: await mailed("VERIFY_EMAIL", over),
  };
  const ended = sql<Date>`now() - interval '1 second'`;
  await db.updateTable("identity_code").set({ expires_at: ended }).where("user_id", "=", over.id).execute();
  const used = await signUp();
  const usedReset = await mailed("PASSWORD_RESET", used);
  const usedVerify = await mailed("VERIFY_EMAIL", used);
  await must("POST", "/identity/v1/accounts:update", undefined, { oobCode: usedVerify });
  const change = { oobCode: usedReset, newPassword: another };
  await must("POST", "/identity/v1/accounts:resetPassword", undefined, change);
  const replaced = await mailed("PASSWORD_RESET");
  const reset = await mailed("PASSWORD_RESET");
  const verify = await mailed("VERIFY_EMAIL");
  const nobodys = newId();
  return {
    custom: [
      ["used up", spent],
      ["over", late.custom],
      ["a code to reset", reset],
      ["nobody's", nobodys],
    ],
    reset: [
      ["used up", usedReset],
      ["over", late.reset],
      ["replaced by a later one", replaced],
      ["a code to confirm the address", verify],
      ["nobody's", nobodys],
    ],
    verify: [
      ["used up", usedVerify],
      ["over", late.verify],
      ["a code to reset", reset],
      ["nobody's", nobodys],
    ],
  } as const;
}

async function endedRefreshTokens({ identity, must, signUp }: World): Promise<Shown<string>> {
  const signedOut = await signUp();
  await must("POST", "/auth/logout", signedOut.token, {});
  const changed = await signUp();
  await identity.updateUser(changed.id, { password: another });
  const deleted = await signUp();
  await identity.deleteUser(deleted.id);
  return [
    ["signed out", signedOut.refreshToken],
    ["password changed", changed.refreshToken],
    ["deleted", deleted.refreshToken],
  ];
}
