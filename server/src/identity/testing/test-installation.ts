import { randomBytes } from "node:crypto";
import { afterAll } from "vitest";
import type { Db } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import type { LocalOptions } from "../local/local-deps.ts";
import { localIdentity } from "../local/local-identity.ts";
import type { HalfSignIn, Tokens } from "../local/sign-ins.ts";
import { newEmail } from "./identity.suite.ts";

export const password = "First password 1!";
export const device = { userAgent: "Test/1", ip: "192.0.2.1" };

/** The error code, or "ok". */
export const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error) => error.code ?? String(error),
  );

/** Of a sign-in that needs no code. */
export function tokensOf(reply: Tokens | HalfSignIn): Tokens {
  if ("pendingCredential" in reply) throw new Error("a code is needed");
  return reply;
}

/** One database and one installation for a test file; every test creates its own user. */
export async function testInstallation() {
  const database = await testDatabase();
  afterAll(() => database.close());
  const { db }: { db: Db } = database;
  const secret = randomBytes(32);

  function start(options: Partial<LocalOptions> = {}) {
    const limits = { signInsPerMinute: 1_000 };
    return localIdentity({ db, secret, appUrl: "http://localhost:3000", limits, ...options });
  }

  async function setup() {
    const notices: string[] = [];
    const identity = start({ announce: async (_tx, { userId, cause }) => void notices.push(`${userId} ${cause}`) });
    const email = newEmail();
    const user = await identity.createUser({ email, password });
    return { identity, email, user, notices, tokens: tokensOf(await identity.signIn(email, password, device)) };
  }

  return { db, start, setup };
}
