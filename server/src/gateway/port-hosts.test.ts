import { createServer } from "node:http";
import { expect, test } from "vitest";
import { openUpstream, poll, setupGateway } from "./testing/setup-gateway.ts";
import { withProgram } from "./testing/with-program.ts";

const html = { accept: "text/html,application/xhtml+xml" };

async function running() {
  const given = await setupGateway();
  const own = await withProgram(given, "demo");
  const cookie = await given.signedIn(own.row, null, 6006);
  return { ...given, ...own, cookie };
}

test("G385 what listens on a port is at a host of its own, without any token, and JupyterLab gets none of its requests", async () => {
  const { ask, host, cookie, lab, row, port } = await running();
  const reply = await ask(host, `/a/../b?token=mine&token=${row.secret}`, {
    headers: { cookie: `a=1; ${cookie}`, authorization: "Basic eA==", "x-forwarded-for": "6.6.6.6" },
  });
  const { program, url, headers } = JSON.parse(reply.body);
  expect([reply.status, program, url]).toEqual([200, "demo", "/a/../b?token=mine"]);
  expect(headers.map(String).join("\n").toLowerCase()).not.toMatch(/authorization|env=/);
  expect(headers).not.toContain(row.runToken);
  expect(headers.join("\n")).toContain(`Host\n${host}`.replace("Host", "host"));
  expect(headers.join("\n")).toContain(`X-Forwarded-Host\n6006--demo.localhost:${port}`);
  expect(reply.headers["set-cookie"]).toEqual(["own=1; Path=/"]);
  expect(JSON.parse((await ask(host, "/again", { headers: { cookie } })).body).url).toBe("/again");
  expect([lab.joined, lab.requests], "one connection, kept for the second request").toEqual([[6006], []]);
  // A script has the environment's token, and the program does not see it.
  const script = await ask(host, "/", { method: "POST", headers: { authorization: `token ${row.secret}` }, body: "x" });
  expect([script.status, script.body.includes(row.secret)]).toEqual([200, false]);
});

test("G387 a browser signs in to each port by itself; no other cookie of the environment is valid there", async () => {
  const { ask, host, cookie, hostOf, portHostOf, row, codeFor, signedIn, appUrl, db } = await running();
  const first = await ask(host, "/a?b=1", { headers: html });
  const visit = new URL(first.headers.location ?? "").searchParams.get("visit");
  expect([first.status, first.headers.location]).toEqual([
    302,
    `${appUrl}/open?environment=demo&path=%2Fa%3Fb%3D1&visit=${visit}&port=6006`,
  ]);
  const status = (at: string, value: string) =>
    ask(at, "/", { headers: { cookie: value } }).then((reply) => reply.status);
  const labCookie = await signedIn(row);
  expect([await status(host, cookie), await status(hostOf(row), labCookie)]).toEqual([200, 200]);
  expect([await status(host, labCookie), await status(hostOf(row), cookie)]).toEqual([401, 401]);
  expect(await status(portHostOf(row, 6007), cookie)).toBe(401);
  // A code is for one host, and its path begins at the program's first page.
  const redeem = (at: string, code: string) => ask(at, `/_berth/sign-in?code=${code}&cleared=1`);
  expect((await redeem(hostOf(row), await codeFor(row, null, undefined, 6006))).status).toBe(400);
  expect((await redeem(host, await codeFor(row))).status).toBe(400);
  expect((await redeem(host, await codeFor(row, null, undefined, 6006))).headers.location).toBe("/");
  // A guest of a share link gets JupyterLab only.
  await db
    .insertInto("share_links")
    .values({ id: "s", hash: Buffer.from("s"), environment_id: row.id, user_id: "owner", expires_at: soon() } as never)
    .execute();
  const shared = await signedIn(row);
  await db
    .updateTable("grants")
    .set({ share_id: "s" })
    .where("id", "=", shared.slice(4).split(".")[0] ?? "")
    .execute();
  expect(await status(host, shared)).toBe(401);
  for (const path of ["/_berth/share?key=x", "/_berth/anything"])
    expect((await ask(host, path, { headers: { cookie } })).status).toBe(404);
  await db.updateTable("grants").set({ revoked_at: new Date() }).where("port", "=", 6006).execute();
  await expect.poll(() => status(host, cookie), { timeout: 2000 }).toBe(401);
});

const soon = () => new Date(Date.now() + 1e6);

test("G387 the first visit of each port's host clears what a former environment of the name left there", async () => {
  const { ask, row, codeFor, portHostOf, signedIn } = await running();
  const visit = async (inside: number) => {
    const code = await codeFor(row, null, undefined, inside);
    const reply = await ask(portHostOf(row, inside), `/_berth/sign-in?code=${code}&path=/`);
    return reply.headers["clear-site-data"];
  };
  // Port 6006 and JupyterLab were visited already.
  await signedIn(row);
  expect([await visit(6006), await visit(6007)]).toEqual([undefined, '"storage"']);
});

test("G301 no service worker of a program covers its port's whole address, nor reaches further than its folder", async () => {
  const { ask, host, cookie, program } = await running();
  program.server.prependListener("request", (_request, response) => response.setHeader("service-worker-allowed", "/"));
  const worker = { cookie, "service-worker": "script" };
  for (const path of ["/sw.js", "/_berth/sw.js"])
    expect([path, (await ask(host, path, { headers: worker })).status]).toEqual([path, path === "/sw.js" ? 403 : 404]);
  const own = await ask(host, "/app/sw.js", { headers: worker });
  expect([own.status, own.headers["service-worker-allowed"]]).toEqual([200, undefined]);
});

test("ports that give no answer, and numbers out of range, are refused with one sentence", async () => {
  const { ask, hostOf, portHostOf, row, signedIn, lab, appUrl, open, environment } = await running();
  const cookie = await signedIn(row, null, 6007);
  const host = portHostOf(row, 6007);
  const page = await ask(host, "/x", { headers: { ...html, cookie } });
  expect(page.status).toBe(502);
  expect(page.body).toContain("<h1>Nothing listens on port 6007 in this environment</h1>");
  expect(page.body).toContain(">Start the program, then try again.<");
  expect(page.body).toContain(`href="${appUrl}/environments/${row.id}?tab=access"`);
  const json = JSON.parse((await ask(host, "/x", { headers: { cookie } })).body);
  expect([json.code, json.message]).toEqual(["port_not_listening", "Nothing listens on port 6007 in this environment"]);
  const handshake = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  const socket = open(handshake);
  await socket.closed;
  expect(socket.received()).toMatch(/^HTTP\/1\.1 502 [\s\S]*Nothing listens on port 6007 in this environment/);
  // It ends the connection without an answer.
  const mute = await openUpstream(createServer().on("connection", (each) => each.destroy()));
  lab.programs.set(6007, mute.port);
  const silent = await ask(host, "/x", { headers: { cookie } });
  expect([silent.status, JSON.parse(silent.body).code]).toEqual([502, "port_not_answering"]);
  for (const label of ["80--demo", "1023--demo", "65536--demo", "0--demo", "06006--demo", "99999999--nobody"]) {
    const refused = await ask(`${label}.localhost`, "/", { headers: html });
    expect([label, refused.status]).toEqual([label, 404]);
    expect(refused.body).toContain("Only ports from 1024 to 65535 have an address");
  }
  for (const label of ["6006--nobody", "6006--", "6006-demo", "a6006--demo", "6006--6006--demo"])
    expect([label, (await ask(`${label}.localhost`, "/", { headers: { cookie } })).status]).toEqual([label, 404]);
  // A name of before that has this form is still its owner's environment.
  const older = await environment({ subdomain: "6006--demo", user_id: "other" });
  await poll(async () => (await ask(hostOf(older), "/", { headers: { cookie } })).status === 401);
  expect(lab.requests).toEqual([]);
});

test("a paused environment shows its page at its ports too, and what is open there is cut when it stops", async () => {
  const given = await running();
  const { ask, host, cookie, db, row, lab, open } = given;
  const program = await openUpstream(
    createServer((_request, response) => response.end("open")).on("upgrade", (_request, socket) => {
      socket.on("error", () => {});
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      socket.pipe(socket);
    }),
  );
  lab.programs.set(6006, program.port);
  const client = open(
    `GET /ws HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  await expect.poll(client.received).toMatch(/^HTTP\/1\.1 101 /);
  client.socket.write("ping");
  await expect.poll(client.received).toMatch(/ping$/);
  const set = (status: "paused" | "stopped") =>
    db.updateTable("environments").set({ status, desired: status }).where("id", "=", row.id).execute();
  await set("paused");
  await expect
    .poll(() => ask(host, "/x", { headers: { ...html, cookie } }).then(({ body }) => body))
    .toContain("This environment is paused");
  expect(client.socket.destroyed).toBe(false);
  await set("stopped");
  await client.closed;
  await expect.poll(() => program.sockets.size).toBe(0);
});
