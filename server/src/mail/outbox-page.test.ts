import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { AppError } from "../errors.ts";
import { enqueueMail } from "./outbox.ts";
import { outboxPage } from "./outbox-page.ts";
import { resetLetter } from "./reset-letter.ts";

const link = "http://localhost:3000/reset-password?oobCode=abc";

async function setup({ trustProxy = false } = {}) {
  const database = await testDatabase();
  const { db } = database;
  const app = Fastify({ trustProxy });
  app.setErrorHandler((error, _, reply) =>
    reply.code(error instanceof AppError && error.code === "not_found" ? 404 : 500).send(error),
  );
  outboxPage(app, { db, brandName: "Berth" });
  onTestFinished(async () => {
    await app.close();
    await database.close();
  });
  const letter = resetLetter({ brandName: "Berth", name: "Ada", link });
  const mail = { userId: "ada", ...letter };
  for (const [cause, to] of [
    ["one", "ada@uni.example"],
    ["two", "<b>@uni.example"],
  ] as const)
    await db.transaction().execute((tx) => enqueueMail(tx, { ...mail, to, cause }));
  const get = (headers: Record<string, string> = {}, remoteAddress = "127.0.0.1") =>
    app.inject({ method: "GET", url: "/outbox", headers, remoteAddress });
  return { get, letter };
}

test("programs get the mails as they are, the newest first", async () => {
  const { get, letter } = await setup();
  const answer = await get({ accept: "application/json" });
  const mail = { ...letter, at: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(answer.json()).toEqual([
    { to: "<b>@uni.example", ...mail },
    { to: "ada@uni.example", ...mail },
  ]);
  expect(answer.headers["cache-control"]).toBe("no-store");
});

test("people get a page with links that work and nothing that runs", async () => {
  const { get } = await setup();
  const { body, headers } = await get({ accept: "text/html" });
  expect(headers["content-type"]).toContain("text/html");
  expect(body).toContain("ada@uni.example");
  expect(body).toContain("&lt;b&gt;@uni.example");
  expect(body).toContain(`<a href="${link}">`);
});

test.each([
  ["another machine", {}, "192.0.2.7"],
  ["another machine over IPv6", {}, "2001:db8::7"],
  ["a proxy on this machine, for somebody", { "x-forwarded-for": "192.0.2.7" }, "127.0.0.1"],
  ["a proxy on this machine, for loopback as it says", { "x-forwarded-for": "127.0.0.1" }, "127.0.0.1"],
  ["a proxy of the other spelling", { forwarded: "for=192.0.2.7" }, "::1"],
])("%s is told that there is nothing", async (_who, headers, from) => {
  for (const trustProxy of [false, true]) {
    const { get } = await setup({ trustProxy });
    const answer = await get({ accept: "application/json", ...headers }, from);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).not.toContain("oobCode");
  }
});

test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])("%s is this machine", async (from) => {
  const { get } = await setup();
  expect((await get({}, from)).statusCode).toBe(200);
});
