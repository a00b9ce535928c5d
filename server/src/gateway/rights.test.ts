import { createServer } from "node:http";
import { expect, test } from "vitest";
import { newId } from "../database/new-id.ts";
import { createShareLink, revokeShareLink } from "../environments/api/share-links.ts";
import { openUpstream, poll, setupGateway } from "./testing/setup-gateway.ts";

const kinds = ["owner", "guest", "token", "address"] as const;
type Kind = (typeof kinds)[number];

/** An environment with a WebSocket and a stream open for each kind of principal; `open` lists the open ones. */
async function visited() {
  const environment = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\n\n");
  });
  environment.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  });
  const { port } = await openUpstream(environment);
  const given = await setupGateway();
  const row = await given.environment({ port });
  const host = given.hostOf(row);
  const owned = { id: row.id, userId: row.userId };
  const owner = await given.signedIn(row);
  const { share, secret } = await createShareLink(given.db, owned, "1h");
  const entered = await given.ask(host, "/_berth/share", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: `http://${host}` },
    body: `key=${secret}`,
  });
  const guest = String(entered.headers["set-cookie"]?.[0]?.split(";")[0]);
  const shown: Readonly<Record<Kind, readonly [fields: string, query: string]>> = {
    owner: [`Cookie: ${owner}\r\n`, ""],
    guest: [`Cookie: ${guest}\r\n`, ""],
    token: [`Authorization: token ${row.secret}\r\n`, ""],
    address: ["", `?token=${row.secret}`],
  };
  const still = new Set<string>();
  const begin = async (kind: Kind, way: "socket" | "stream") => {
    const [fields, query] = shown[kind];
    const asked =
      way === "socket"
        ? `Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://${host}\r\n`
        : "Accept: text/event-stream\r\n";
    const client = given.open(`GET /x${query} HTTP/1.1\r\nHost: ${host}\r\n${fields}${asked}\r\n`);
    await expect.poll(client.received).toMatch(way === "socket" ? /^HTTP\/1\.1 101/ : /first/);
    still.add(`${kind} ${way}`);
    void client.closed.then(() => still.delete(`${kind} ${way}`));
  };
  for (const kind of kinds) for (const way of ["socket", "stream"] as const) await begin(kind, way);
  const open = () => kinds.filter((kind) => [...still].some((each) => each.startsWith(`${kind} `)));
  const whole = () => still.size === 2 * open().length;
  return { ...given, row, host, owned, share, owner, guest, open, whole };
}

/** Within two seconds (G109). */
const soon = { timeout: 2000, interval: 20 };

test("a new secret ends sockets and streams of the old one, in header and query string (G109)", async () => {
  const { db, row, open, whole, ask, host } = await visited();
  expect(open()).toEqual(kinds);
  await db.updateTable("environments").set({ secret: newId() }).where("id", "=", row.id).execute();
  await expect.poll(open, soon).toEqual(["owner", "guest"]);
  expect(whole()).toBe(true);
  expect((await ask(host, "/x", { headers: { authorization: `token ${row.secret}` } })).status).toBe(401);
  expect((await ask(host, `/x?token=${row.secret}`)).status).toBe(401);
});

test("a revoked link ends its guests' exchanges, a password reset the owner's, each in two seconds (G109)", async () => {
  const { db, owned, share, owner, guest, open, whole, ask, host } = await visited();
  await revokeShareLink(db, owned, share.id);
  await expect.poll(open, soon).toEqual(["owner", "token", "address"]);
  expect(whole()).toBe(true);
  await db.updateTable("grants").set({ revoked_at: new Date() }).where("share_id", "is", null).execute();
  await expect.poll(open, soon).toEqual(["token", "address"]);
  expect(whole()).toBe(true);
  for (const cookie of [owner, guest]) expect((await ask(host, "/x", { headers: { cookie } })).status).toBe(401);
});

test("a reset revokes access of every kind at once (G109)", async () => {
  const { db, row, share, open, gateway } = await visited();
  await db.transaction().execute(async (tx) => {
    await tx.updateTable("share_links").set({ revoked_at: new Date() }).where("id", "=", share.id).execute();
    await tx.updateTable("environments").set({ secret: newId() }).where("id", "=", row.id).execute();
    await tx.updateTable("grants").set({ revoked_at: new Date() }).where("environment_id", "=", row.id).execute();
  });
  await expect.poll(open, soon).toEqual([]);
  await poll(() => gateway.openSockets === 0);
});
