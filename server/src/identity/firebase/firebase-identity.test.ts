import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { noEmulator, startAuthEmulator } from "../testing/auth-emulator.ts";
import { type IdentityUnderTest, identitySuite } from "../testing/identity.suite.ts";
import { firebaseIdentity } from "./firebase-identity.ts";

describe.skipIf(noEmulator !== undefined)(noEmulator ?? "on Firebase's Auth emulator", () => {
  let tested: IdentityUnderTest;
  const closing = new AsyncDisposableStack();
  afterAll(() => closing.disposeAsync());

  beforeAll(async () => {
    const database = await testDatabase();
    closing.defer(database.close);
    const emulator = await startAuthEmulator();
    closing.defer(emulator.stop);
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
