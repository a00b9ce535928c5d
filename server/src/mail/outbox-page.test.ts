import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { AppError } from "../app-error.ts";
import { testDatabase } from "../database/testing.ts";
import { operatorPages } from "../http/operator-pages.ts";
import { enqueueMail } from "./outbox.ts";
import { outboxPage } from "./outbox-page.ts";
import { resetEmail } from "./reset-email.ts";

const key = "0123456789abcdef".repeat(4);
const link = "http://localhost:3000/reset-password?oobCode=abc";

async function setup({ appUrl = "http://localhost:3000" } = {}) {
  const database = await testDatabase();
  const { db } = database;
  const app = Fastify();
  app.setErrorHandler((error, _, reply) =>
    reply.code(error instanceof AppError && error.code === "not_found" ? 404 : 500).send(error),
  );
  outboxPage(app, { db, brandName: "Berth", local: operatorPages({ key, appUrl }) });
  onTestFinished(async () => {
    await app.close();
    await database.close();
  });
  const letter = resetEmail({ brandName: "Berth", name: "Ada", link });
  const mail = { userId: "ada", ...letter };
  for (const [cause, to] of [
    ["one", "ada@uni.example"],
    ["two", "<b>@uni.example"],
  ] as const)
    await db.transaction().execute((tx) => enqueueMail(tx, { ...mail, to, cause }));
  const get = (headers: Record<string, string> = {}, url = `/outbox?key=${key}`) =>
    app.inject({ method: "GET", url, headers, remoteAddress: "127.0.0.1" });
  return { get, letter };
}

test("programs get the mails as JSON with the key, newest first", async () => {
  const { get, letter } = await setup();
  const answer = await get({ accept: "application/json" });
  const mail = { ...letter, at: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect(answer.json()).toEqual([
    { to: "<b>@uni.example", ...mail },
    { to: "ada@uni.example", ...mail },
  ]);
  expect(answer.headers["cache-control"]).toBe("no-store");
});

test("people exchange the key for a cookie, and get a page with working links and no scripts", async () => {
  const { get } = await setup();
  const first = await get({ accept: "text/html" });
  expect([first.statusCode, first.headers.location]).toEqual([303, "/outbox"]);
  expect(first.headers["referrer-policy"]).toBe("no-referrer");
  const cookie = String(first.headers["set-cookie"]);
  expect(cookie).toBe(`operator=${key}; Path=/; HttpOnly; SameSite=Lax`);
  const { body, headers } = await get({ accept: "text/html", cookie: `other=1; ${cookie.split(";")[0]}` }, "/outbox");
  expect(headers["content-type"]).toContain("text/html");
  expect(body).toContain("ada@uni.example");
  expect(body).toContain("&#60;b&#62;@uni.example");
  expect(body).toContain(`<a href="${link}">`);
});

test("under TLS the cookie is for this host alone", async () => {
  const { get } = await setup({ appUrl: "https://localhost" });
  const cookie = `__Host-operator=${key}; Path=/; HttpOnly; SameSite=Lax; Secure`;
  expect((await get()).headers["set-cookie"]).toBe(cookie);
  expect((await get({ cookie: `operator=${key}` }, "/outbox")).statusCode).toBe(404);
});

test.each([
  ["no key", {}, "/outbox"],
  ["another key", {}, `/outbox?key=${key.replace("0", "1")}`],
  ["half a key", {}, `/outbox?key=${key.slice(0, 32)}`],
  ["two keys", {}, `/outbox?key=${key}&key=${key}`],
  ["another cookie", { cookie: `operator=${key.replace("0", "1")}` }, "/outbox"],
])("with %s, loopback gets 404", async (_, headers, url) => {
  const { get } = await setup();
  for (const accept of ["application/json", "text/html"]) {
    const answer = await get({ accept, ...headers }, url);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).not.toContain("oobCode");
  }
});
