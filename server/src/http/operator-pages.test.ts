import { once } from "node:events";
import { statSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { dataFolder, emptyDatabase, operatorKey, start } from "../testing/server-process.ts";
import { hasNginx, startNginx } from "../testing/start-nginx.ts";

const json = { accept: "application/json" };

/** A started product that has written a mail with a way into Ada's account. */
async function open() {
  const folder = dataFolder();
  const { url: DATABASE_URL } = await emptyDatabase();
  const { url, said } = start({ DATA_DIR: folder, DATABASE_URL });
  const address = (await url()).replace("localhost", "127.0.0.1");
  const post = (path: string, body: object) =>
    fetch(`${address}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const email = "ada@uni.example";
  expect((await post("/auth/signup", { email, password: "good password 1", name: "Ada" })).status).toBe(200);
  expect((await post("/auth/reset-password", { email })).status).toBe(200);
  return { folder, address, said };
}

/** A reverse proxy that an operator put in front with nothing but `proxy_pass`: it says for nobody that it asks. */
async function plainProxy(folder: string, target: string): Promise<string> {
  const port = await freePort();
  const plain = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; } }`;
  if (hasNginx) await startNginx({ folder, port, servers: plain });
  else {
    const server = createServer((request, response) => {
      const { method, url, headers } = request;
      const { host } = new URL(target);
      const ahead = httpRequest(`${target}${url}`, { method, headers: { ...headers, host } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(ahead);
    }).listen(port, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
  }
  return `http://127.0.0.1:${port}`;
}

test("the start prints the operator's pages with a private key, which is exchanged for a cookie", async () => {
  const { folder, address, said } = await open();
  const key = operatorKey(folder);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder, "operator-key")).mode & 0o777).toBe(0o600);
  const printed = /Mails are read at (\S+)/.exec(said.out)?.[1] ?? "";
  expect(printed).toBe(`${address.replace("127.0.0.1", "localhost")}/outbox?key=${key}`);
  expect(said.out).toContain(`/embedded-gateway/v1/test?key=${key}`);

  const mails = await (await fetch(`${address}/outbox?key=${key}`, { headers: json })).json();
  expect(mails).toEqual([
    {
      to: "ada@uni.example",
      subject: "Reset your Berth password",
      text: expect.stringContaining("oobCode="),
      html: expect.stringContaining("oobCode="),
      at: expect.any(String),
    },
  ]);
  const entered = await fetch(`${address}/outbox?key=${key}`, { redirect: "manual" });
  expect([entered.status, entered.headers.get("location")]).toEqual([303, "/outbox"]);
  const [cookie = ""] = entered.headers.getSetCookie();
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/);
  expect(cookie).not.toContain("Domain");
  const page = await fetch(`${address}/outbox`, { headers: { cookie: cookie.split(";")[0] ?? "" } });
  expect(await page.text()).toContain("oobCode=");
}, 60_000);

test("a request from loopback, direct or through a plain proxy, gets no operator's page (G110)", async () => {
  const { folder, address } = await open();
  const proxy = await plainProxy(folder, address);
  // As through nginx's `proxy_pass` alone, so that the way itself is open.
  expect((await fetch(`${proxy}/config`)).status).toBe(200);
  for (const origin of [address, proxy])
    for (const [path, method] of [
      ["/outbox", "GET"],
      ["/embedded-gateway/v1/test?order_id=order_x", "GET"],
      ["/embedded-gateway/v1/test/orders/order_x/outcome", "PUT"],
    ] as const) {
      const body = method === "PUT" ? JSON.stringify({ outcome: "success" }) : null;
      const answer = await fetch(`${origin}${path}`, {
        method,
        body,
        headers: { ...json, "content-type": "application/json" },
      });
      expect([401, 404], `${origin}${path}: ${answer.status}`).toContain(answer.status);
      expect(await answer.text()).not.toContain("oobCode");
    }
}, 60_000);

test("https without TRUST_PROXY is a warning at the start, and none with it", async () => {
  const env = { APP_URL: "https://gpu.example", PAYMENTS: "embedded", RUNTIME: "fake" };
  const open = async (more: Record<string, string>) =>
    start({ ...env, ...more, DATA_DIR: dataFolder(), DATABASE_URL: (await emptyDatabase()).url });
  const [notified, quiet] = await Promise.all([open({}), open({ TRUST_PROXY: "127.0.0.1" })]);
  const warningsOf = async ({ said, logged }: typeof notified) => {
    await expect.poll(() => said.out, { timeout: 60_000 }).toContain("is ready at https://gpu.example");
    return logged().flatMap(({ level, msg }) => (String(msg).includes("TRUST_PROXY") ? [`${level}: ${msg}`] : []));
  };
  expect(await warningsOf(notified)).toEqual([
    "warn: TRUST_PROXY is not set, though https needs a proxy in front: all clients count as one address, for rate limits and logs. Set it to the proxy's addresses.",
  ]);
  expect(await warningsOf(quiet)).toEqual([]);
}, 90_000);
