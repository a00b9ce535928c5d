import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { handleErrors } from "../http/handle-errors.ts";
import { parseBodies } from "../http/parse-bodies.ts";
import type { MailLimits } from "./limit-mails.ts";
import { mailedLinkRoutes } from "./mailed-link-routes.ts";
import { newEmail } from "./testing/identity.suite.ts";
import { outcome, password, testInstallation } from "./testing/test-installation.ts";

const { db, setup: account } = await testInstallation();
const appUrl = "https://berth.example";

async function setup(change: Partial<MailLimits> = {}) {
  const { identity, email, user } = await account();
  const app = Fastify();
  parseBodies(app);
  handleErrors(app);
  app.addHook("preParsing", async (request) => {
    if (request.headers.authorization !== "me") return;
    const { uid: id, email, emailVerified } = (await identity.getUser({ uid: user.uid })) ?? user;
    request.user = { id, email, emailVerified, name: "", sessionId: null };
  });
  const limits = { linksPerHour: 3, networkPerHour: 100, networkPerDay: 100, domainPerDay: 100, ...change };
  mailedLinkRoutes(app, { db, identity, appUrl, brandName: "Berth", limits });
  onTestFinished(() => app.close());
  const mails = () =>
    db.selectFrom("mails").selectAll().where("user_id", "=", user.uid).orderBy("created_at").execute();
  return {
    app,
    identity,
    email,
    user,
    ask: (body: unknown, headers = {}, remoteAddress = "127.0.0.1") =>
      app.inject({ method: "POST", url: "/auth/reset-password", payload: body as object, headers, remoteAddress }),
    askToVerify: (remoteAddress = "127.0.0.1") =>
      app.inject({ method: "POST", url: "/auth/verify-email", headers: { authorization: "me" }, remoteAddress }),
    mails,
    /** The code of the newest mail. */
    async mailed(path = "reset-password") {
      const text = (await mails()).at(-1)?.body_text ?? "";
      const link = new RegExp(`^https://berth\\.example/${path}\\?oobCode=(\\S+)$`, "m").exec(text);
      return decodeURIComponent(link?.[1] ?? "");
    },
  };
}

test("mails a link to the account's own address, with a code that sets a new password once", async () => {
  const { identity, email, ask, mails, mailed } = await setup();
  const reply = await ask({ email: email.toUpperCase() }, { host: "evil.example" });
  expect([reply.statusCode, reply.json()]).toEqual([200, { status: "success" }]);
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

test("each request sends a mail, and only the newest link works", async () => {
  const { identity, email, ask, mails, mailed } = await setup();
  await ask({ email });
  const older = await mailed();
  await ask({ email });
  expect(await mails()).toHaveLength(2);
  expect(await outcome(identity.readResetCode(older))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.readResetCode(await mailed()))).toBe("ok");
});

test("an unknown or suspended account gets the same response and no mail", async () => {
  const { identity, email, user, ask, mails } = await setup();
  const outsider = newEmail();
  const before = await db.selectFrom("mails").select("id").execute();
  await identity.updateUser(user.uid, { disabled: true });
  const startedMs = performance.now();
  const replies = [await ask({ email: outsider }), await ask({ email })];
  expect(performance.now() - startedMs).toBeGreaterThan(490);
  for (const reply of replies) expect([reply.statusCode, reply.json()]).toEqual([200, { status: "success" }]);
  expect(await db.selectFrom("mails").select("id").execute()).toEqual(before);
  expect(await mails()).toEqual([]);
});

test("the fourth request within an hour is refused, for known and unknown accounts", async () => {
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

test("a mailed link confirms the address once; then nothing more is sent (G52)", async () => {
  const { identity, user, email, askToVerify, mails, mailed } = await setup();
  expect((await askToVerify()).json()).toEqual({ status: "success" });
  const [mail] = await mails();
  expect(mail?.recipient).toBe(email);
  expect(Number(mail?.useful_until) - Number(mail?.created_at)).toBe(24 * 3_600_000);
  const older = await mailed("verify-email");
  await askToVerify();
  expect(await outcome(identity.confirmEmail(older))).toBe("INVALID_OOB_CODE");
  const code = await mailed("verify-email");
  expect(await outcome(identity.readResetCode(code))).toBe("INVALID_OOB_CODE");
  expect(await outcome(identity.confirmEmail(code))).toBe("ok");
  expect(await identity.getUser({ uid: user.uid })).toMatchObject({ emailVerified: true });
  expect((await askToVerify()).statusCode).toBe(200);
  expect(await mails()).toHaveLength(2);
});

test("the fourth verification link within an hour is refused, and a request without a token", async () => {
  const { askToVerify, mails, app } = await setup();
  for (let n = 0; n < 3; n++) expect((await askToVerify()).statusCode).toBe(200);
  const refused = await askToVerify();
  expect([refused.statusCode, refused.json().code]).toEqual([429, "rate_limited"]);
  expect(await mails()).toHaveLength(3);
  expect((await app.inject({ method: "POST", url: "/auth/verify-email" })).statusCode).toBe(401);
  expect(await mails()).toHaveLength(3);
});

test("links are limited per network and hour, of all kinds, for known and unknown accounts", async () => {
  const { email, ask, askToVerify, mails } = await setup({ networkPerHour: 4 });
  const asked = [
    await askToVerify("2001:db8:7::1"),
    await ask({ email }, {}, "2001:db8:7::2"),
    await ask({ email: newEmail() }, {}, "2001:db8:7::3"),
    await ask({ email: newEmail() }, {}, "2001:db8:7::4"),
  ];
  expect(asked.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  const refused = [
    await askToVerify("2001:db8:7::5"),
    await ask({ email }, {}, "2001:db8:7::6"),
    await ask({ email: newEmail() }, {}, "2001:db8:7::7"),
  ];
  for (const reply of refused) {
    expect([reply.statusCode, reply.json().code]).toEqual([429, "rate_limited"]);
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(3500);
  }
  expect(await mails()).toHaveLength(2);
  // Refused requests did not use up the account's limit.
  for (const _ of [1, 2]) expect((await ask({ email }, {}, "2001:db8:8::1")).statusCode).toBe(200);
});

test("links are limited per network and day", async () => {
  const { ask } = await setup({ networkPerDay: 2 });
  const status = async () => (await ask({ email: newEmail() }, {}, "2001:db8:9::1")).statusCode;
  expect([await status(), await status()]).toEqual([200, 200]);
  // The hour is over, the day is not.
  await sql`update attempt_windows set ends_at = ends_at - interval '61 minutes'`.execute(db);
  expect(await status()).toBe(429);
});

test("mails are limited per recipient domain and day, without revealing whether an account exists", async () => {
  const { identity, ask } = await setup({ domainPerDay: 2, linksPerHour: 100 });
  const domain = `${newId()}.example`;
  await identity.createUser({ email: `ada@${domain}`, password });
  const status = async (name: string) => (await ask({ email: `${name}@${domain}` })).statusCode;
  for (let n = 0; n < 5; n++) expect(await status(`nobody-${n}`), "nothing was sent").toBe(200);
  expect([await status("ada"), await status("Ada")]).toEqual([200, 200]);
  expect([await status("ada"), await status("nobody"), await status("nobody-0")]).toEqual([429, 429, 429]);
  expect((await ask({ email: `ada@${newId()}.example` })).statusCode).toBe(200);
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
  const reply = await ask(body);
  expect([reply.statusCode, reply.json().code]).toEqual([400, "invalid_request"]);
});
