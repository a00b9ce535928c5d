import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Changes } from "../../database/changes.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { poll, setupGateway, upstreamServer } from "../testing/setup-gateway.ts";

const html = { accept: "text/html" };
const hours = (count: number) => new Date(Date.now() + count * 3_600_000 + 30_000);

test.each([
  [
    "starting",
    { status: "pending", stage: "image" },
    503,
    /Starting: pulling image[\s\S]*opens by itself[\s\S]*"done"[\s\S]*GPUs reserved[\s\S]*"doing" aria-current="step"[\s\S]*Image ready[\s\S]*"waiting"[\s\S]*>Show progress</,
  ],
  ["resuming", { status: "paused", desired: "running" }, 503, /<\/svg>Starting<[\s\S]*>Show progress</],
  [
    "paused",
    { status: "paused", desired: "paused", expires_at: hours(25) },
    503,
    /is paused[\s\S]*memory and GPUs are kept, and the clock is running: 1d 1h left\.[\s\S]*>Restart</,
  ],
  ["pausing", { status: "active", desired: "paused" }, 503, /is paused/],
  [
    "stopped, hourly",
    { status: "stopped", desired: "stopped", banked: 8 * 3600 + 18 * 60 },
    503,
    /is stopped[\s\S]*8h 18m are banked[\s\S]*>Restart</,
  ],
  [
    "stopped, because it stayed silent",
    { status: "stopped", desired: "stopped", banked: 3600, stop_reason: "silent" },
    503,
    /did not answer for ten minutes[\s\S]*start it without your settings[\s\S]*1h 0m are banked/,
  ],
  [
    "stopped, because its files are not there",
    { status: "stopped", desired: "stopped", banked: 3600, stop_reason: "no_home" },
    503,
    /files are not there[\s\S]*None of its time is lost: 1h 0m are banked/,
  ],
  ["starting again", { status: "pending", stage: "placed", banked: 3600 }, 503, /as soon as JupyterLab answers\./],
  [
    "stopped, monthly",
    { status: "stopped", desired: "stopped", expires_at: hours(500) },
    503,
    /GPUs are held, and the clock is running: 20d 20h left[\s\S]*>Restart</,
  ],
  ["expired", { status: "active", expires_at: new Date(Date.now() - 1000) }, 410, /has ended[\s\S]*>Launch again</],
  ["ending", { status: "active", desired: "terminated" }, 410, /has ended/],
  ["without an endpoint", { status: "active" }, 502, /does not answer[\s\S]*>Try again</],
] as const)("%s", async (_name, fields, status, text) => {
  const { environment, signedIn, ask, hostOf, appUrl } = await setupGateway();
  const row = await environment(fields);
  const cookie = await signedIn(row);
  const page = await ask(hostOf(row), "/lab", { headers: { ...html, cookie } });
  expect(page.status).toBe(status);
  expect(page.body).toMatch(text);
  expect(page.body).toContain(`<span>${hostOf(row)}</span>`);
  expect(page.body).not.toContain("<script");
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(page.body).toMatch(new RegExp(`href="(${appUrl}/environments/(${row.id}|create)|/lab)"`));
  const json = await ask(hostOf(row), "/api", { headers: { cookie } });
  expect([json.status, json.headers["content-type"]]).toEqual([status, "application/json; charset=utf-8"]);
  expect(JSON.parse(json.body)).toMatchObject({
    status: "error",
    message: expect.any(String),
    detail: expect.any(String),
    code: expect.stringMatching(/^[a-z_]+$/),
  });
  const starting = status === 503 && page.body.includes("opens by itself");
  expect([page.headers["retry-after"], page.headers["refresh"]]).toEqual(
    starting ? ["1", "1"] : [status === 502 ? "5" : undefined, undefined],
  );
});

test("an ended environment says until when its files are kept", async () => {
  const { environment, signedIn, ask, hostOf, db } = await setupGateway();
  await db
    .insertInto("subdomain_claims")
    .values({
      name: "done",
      user_id: "owner",
      order_id: null,
      held_until: null,
      retained_until: new Date("2099-12-20T10:00:00Z"),
    })
    .execute();
  const row = await environment({ subdomain: "done", status: "terminated", ended_reason: "expired" });
  const page = await ask(hostOf(row), "/", { headers: { ...html, cookie: await signedIn(row) } });
  expect([page.status, page.body]).toEqual([410, expect.stringContaining("kept until Dec 20, 2099")]);
});

test("free, other users' and invalid subdomains, and foreign hosts", async () => {
  const { ask, port, appUrl } = await setupGateway();
  const missing = await ask(`free-name.localhost:${port}`, "/", { headers: html });
  expect([missing.status, missing.body]).toEqual([
    404,
    expect.stringContaining(`href="${appUrl}/dashboard">Go to dashboard`),
  ]);
  expect((await ask(`two.labels.localhost:${port}`, "/")).status).toBe(404);
  expect((await ask(`-x.localhost:${port}`, "/")).status).toBe(404);
  expect((await ask(`FREE-name.LOCALHOST:${port}`, "/")).status).toBe(404);
  for (const host of [
    "evil.test",
    "evil.test.localhost.evil",
    "xlocalhost",
    "a.localhost.",
    "a.localhost:80:80",
    "user@a.localhost",
  ]) {
    const reply = await ask(host, "/");
    expect([host, reply.status, JSON.parse(reply.body).code]).toEqual([host, 421, "wrong_host"]);
  }
});

test("a request with a body is forwarded although the gateway missed the notification that the environment runs", async () => {
  const upstream = await upstreamServer((request, response) => {
    request.setEncoding("utf8").on("data", (sent: string) => response.end(`notebook, ${sent}`));
  });
  const listeners: Parameters<Changes["subscribe"]>[0][] = [];
  const changes: Changes = {
    subscribe(listener) {
      listeners.push(listener);
      return () => {};
    },
    subscribeUser: () => () => {},
  };
  const { environment, ask, hostOf, db } = await setupGateway({ changes });
  const row = await environment({ status: "pending", stage: "answering" });
  for (const listener of listeners) listener({ kind: "environment", id: row.id, user: row.userId });
  const headers = { authorization: `token ${row.secret}` };
  await poll(async () => (await ask(hostOf(row), "/lab", { headers })).status === 503);
  const answering = {
    status: "active" as const,
    endpoint: JSON.stringify({ host: "127.0.0.1", port: upstream.port }),
    run_token: "t",
  };
  await db.updateTable("environments").set(answering).where("id", "=", row.id).execute();
  const reply = await ask(hostOf(row), "/api/contents/a.txt", { method: "PUT", headers, body: "42" });
  expect([reply.status, reply.body]).toEqual([200, "notebook, 42"]);
});

test("a starting environment opens by itself, and a change is seen within a second", async () => {
  const upstream = await upstreamServer((_request, response) => void response.end("notebook"));
  const { environment, signedIn, ask, hostOf, db } = await setupGateway();
  const row = await environment({ status: "pending", stage: "answering" });
  const headers = { ...html, cookie: await signedIn(row) };
  expect((await ask(hostOf(row), "/lab", { headers })).status).toBe(503);
  const answering = {
    status: "active" as const,
    endpoint: JSON.stringify({ host: "127.0.0.1", port: upstream.port }),
    run_token: "t",
  };
  await db.updateTable("environments").set(answering).where("id", "=", row.id).execute();
  await poll(async () => (await ask(hostOf(row), "/lab", { headers })).body === "notebook", 1000);
  await db.updateTable("environments").set({ desired: "stopped" }).where("id", "=", row.id).execute();
  // A request in progress may be aborted when the environment stops.
  const refused = () =>
    ask(hostOf(row), "/lab", { headers }).then(
      ({ status }) => status === 503,
      () => false,
    );
  await poll(refused, 1000);
});

test("a refusal is counted by its code and logged once a minute for each name and code, without what was sent", async () => {
  const { log, lines } = recordLog();
  const { environment, ask, hostOf, open, gateway, port } = await setupGateway({ log });
  const row = await environment({ port: 1 });
  await poll(async () => (await ask(hostOf(row), "/")).status === 401);
  const count = (code: string) => gateway.counts.refusals.get(code) ?? 0;
  const before = { not_found: count("not_found"), unauthenticated: count("unauthenticated") };
  for (const _ of [1, 2, 3]) await ask(`nobody.localhost:${port}`, "/lab?token=secret-token");
  await ask(hostOf(row), "/_berth/no-such-page");
  await ask(hostOf(row), "/lab", { headers: { authorization: "token secret-token" } });
  const { closed } = open(
    `GET /api HTTP/1.1\r\nHost: ${hostOf(row)}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await closed;
  expect(count("not_found")).toBe(before.not_found + 4);
  expect(count("unauthenticated")).toBe(before.unauthenticated + 2);
  const written = lines.filter(({ event }) => event === "gateway.refused");
  expect(written.map(({ level, subdomain, code, status }) => [level, subdomain, code, status]).toSorted()).toEqual(
    [
      ["info", "nobody", "not_found", 404],
      ["info", row.subdomain, "not_found", 404],
      ["info", row.subdomain, "unauthenticated", 401],
    ].toSorted(),
  );
  expect(JSON.stringify(written)).not.toContain("secret-token");
});

test("while the routes were never read a name is not missing: 503, then the page opens by itself", async () => {
  const { db, hostOf, environment, beside } = await setupGateway();
  const row = await environment({ port: 1 });
  await sql`alter table environments rename to environments_away`.execute(db);
  const second = await beside();
  const page = () => second.ask(hostOf(row), "/lab", { headers: html });
  const early = await page();
  expect([early.status, early.headers["retry-after"], early.headers["refresh"]]).toEqual([503, "2", "2"]);
  expect(early.body).toContain("cannot be opened yet");
  expect(JSON.parse((await second.ask(hostOf(row), "/api")).body)).toMatchObject({ code: "unavailable" });
  await sql`alter table environments_away rename to environments`.execute(db);
  await poll(async () => (await page()).status === 302);
  expect((await second.ask(hostOf({ subdomain: "nobody" }), "/")).status).toBe(404);
});
