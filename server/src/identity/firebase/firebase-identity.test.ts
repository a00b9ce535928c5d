import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { usersFile } from "../../operator/identity/users-file.ts";
import { noEmulator, startAuthEmulator } from "../testing/auth-emulator.ts";
import { type IdentityUnderTest, identitySuite, newEmail } from "../testing/identity.suite.ts";
import { firebaseIdentity } from "./firebase-identity.ts";

describe.skipIf(noEmulator !== undefined)(noEmulator ?? "on Firebase's Auth emulator", () => {
  let tested: IdentityUnderTest;
  let host = "";
  const closing = new AsyncDisposableStack();
  afterAll(() => closing.disposeAsync());

  beforeAll(async () => {
    const database = await testDatabase();
    closing.defer(database.close);
    const emulator = await startAuthEmulator();
    closing.defer(emulator.stop);
    host = emulator.host;
    const project = { projectId: "demo-berth", apiKey: "any", serviceAccount: undefined, emulator: emulator.host };
    const identity = firebaseIdentity({ db: database.db, project, limits: { signInsPerMinute: 1_000 } });
    const { accountsUrl } = identity.browserConfig();
    const call = async (method: string, body: object) => {
      const reply = await fetch(`${accountsUrl}:${method}?key=any`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, returnSecureToken: true }),
      });
      return ((await reply.json()) as { idToken: string }).idToken;
    };
    tested = {
      identity,
      signIn: (email, password) => inLaterSecond(() => call("signInWithPassword", { email, password })),
      signInWithCustomToken: (token) => inLaterSecond(() => call("signInWithCustomToken", { token })),
    };
  }, 300_000);

  identitySuite("Firebase's Auth emulator", async () => tested);

  test("an export of ours is imported there: the id stays, and a reset makes the first password (G322)", async () => {
    const { identity, signIn } = tested;
    const user = { id: `own${Date.now().toString(36)}`, email: newEmail(), name: "Ann", email_verified: true };
    const file = usersFile([{ ...user, disabled: false, created_at: new Date() }]);
    const post = async (path: string, body: string) => {
      const headers = { authorization: "Bearer owner", "content-type": "application/json" };
      const url = `http://${host}/identitytoolkit.googleapis.com/v1/${path}`;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    };
    await post("projects/demo-berth/accounts:batchCreate", file);
    expect(await identity.getUser({ email: user.email })).toMatchObject({
      uid: user.id,
      name: "Ann",
      emailVerified: true,
    });
    const oobCode = await identity.createActionCode("PASSWORD_RESET", user.email);
    await post("accounts:resetPassword?key=any", JSON.stringify({ oobCode, newPassword: "Another password 7!" }));
    const token = await signIn(user.email, "Another password 7!");
    expect(await identity.verifyIdToken(token, { checkRevoked: true })).toMatchObject({
      uid: user.id,
      email: user.email,
    });
  });
});

const used = new Map<string, number>();

/** Signs in until the provider counts another sign-in: it tells those of an account apart by their second. */
async function inLaterSecond(signIn: () => Promise<string>): Promise<string> {
  for (;;) {
    const token = await signIn();
    const { sub = "", auth_time: at } = decodeJwt(token);
    if (typeof at !== "number" || used.get(sub) === at) continue;
    used.set(sub, at);
    return token;
  }
}
