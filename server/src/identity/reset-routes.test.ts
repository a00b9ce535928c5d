import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { parseBodies } from "../http/body.ts";
import { handleErrors } from "../http/error-handler.ts";
import { newEmail } from "./identity.suite.ts";
import { resetRoutes } from "./reset-routes.ts";
import { outcome, testInstallation } from "./testing.ts";

const { db, setup: account } = await testInstallation();
const appUrl = "https://berth.example";

async function setup({ resetMailsPerHour = 3 } = {}) {
  const { identity, email, user } = await account();
  const app = Fastify();
  parseBodies(app);
  handleErrors(app);
  resetRoutes(app, { db, identity, appUrl, brandName: "Berth", resetMailsPerHour });
  onTestFinished(() => app.close());
  const mails = () =>
    db.selectFrom("mails").selectAll().where("user_id", "=", user.uid).orderBy("created_at").execute();
  return {
    identity,
    email,
    user,
    ask: (body: unknown, headers = {}) =>
      app.inject({ method: "POST", url: "/auth/reset-password", payload: body as object, headers }),
    mails,
    /** The code of the newest mail. */
    async mailed() {
      const text = (await mails()).at(-1)?.body_text ?? "";
      const link = /^https:\/\/berth\.example\/reset-password\?oobCode=(\S+)$/m.exec(text);
      return decodeURIComponent(link?.[1] ?? "");
    },
  };
}

test("mails a link to the account's own address, with a code that sets a new password once", async () => {
  const { identity, email, ask, mails, mailed } = await setup();
  const answer = await ask({ email: email.toUpperCase() }, { host: "evil.example" });
  expect([answer.statusCode, answer.json()]).toEqual([200, { status: "success" }]);
  const [mail] = await mails();
  expect(mail?.recipient).toBe(email);
  expect(mail?.body_html).not.toContain("evil.example");
  expect(Number(mail?.useful_until) - Number(mail?.created_at)).toBe(3_600_000);
  const code = await mailed();
  expect(code).not.toBe("");
  expect(mail?.cause).not.toContain(code);
  expect(await identity.readResetCode(code)).toEqual({ email });
  expect(await outcome(identity.resetPassword(code, "Second password 2!"))).toBe("ok");
  expect(await outcome(identity.resetPassword(code, "Third password 3!"))).toBe("INVALID_OOB_CODE");
});

test("each request is a mail of its own, and only the newest link works", async () => {
  const { identity, email, ask, mails, mailed } = await setup();
  await ask({ email });
  const older = await mailed();
  await ask({ email });
  expect(await mails()).toHaveLength(2);
  expect(await outcome(identity.readResetCode(older))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.readResetCode(await mailed()))).toBe("ok");
});

test("whoever has no account, or a suspended one, gets the same answer and no mail", async () => {
  const { identity, email, user, ask, mails } = await setup();
  const stranger = newEmail();
  const before = await db.selectFrom("mails").select("id").execute();
  await identity.updateUser(user.uid, { disabled: true });
  const startedMs = performance.now();
  const answers = [await ask({ email: stranger }), await ask({ email })];
  expect(performance.now() - startedMs).toBeGreaterThan(490);
  for (const answer of answers) expect([answer.statusCode, answer.json()]).toEqual([200, { status: "success" }]);
  expect(await db.selectFrom("mails").select("id").execute()).toEqual(before);
  expect(await mails()).toEqual([]);
});

test("the fourth of an hour is refused, for an account and for none alike", async () => {
  const { email, ask, mails } = await setup();
  for (const address of [email, newEmail()]) {
    const spellings = [address, ` ${address}`.trim().toUpperCase(), address];
    for (const each of spellings) expect((await ask({ email: each })).statusCode).toBe(200);
    const refused = await ask({ email: address });
    expect([refused.statusCode, refused.json().code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3500);
  }
  expect(await mails()).toHaveLength(3);
});

test.each([
  [{}],
  [{ email: "" }],
  [{ email: "ada" }],
  [{ email: `${"x".repeat(250)}@uni.example` }],
  [{ email: ["ada@uni.example"] }],
  [{ email: "ada@uni.example,eve@evil.example" }],
  [{ email: "ada@uni.example\r\nBcc: eve@evil.example" }],
])("%j is refused", async (body) => {
  const { ask } = await setup();
  const answer = await ask(body);
  expect([answer.statusCode, answer.json().code]).toEqual([400, "invalid_request"]);
});
