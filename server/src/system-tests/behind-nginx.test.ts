import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { dataFolder, emptyDatabase, start } from "../testing/server-process.ts";
import { freePort, hasNginx, startNginx } from "../testing/start-nginx.ts";
import { containerRequest, orderBody } from "../testing/test-app.ts";

const app = "app.berth.test";
const environments = "env.berth.test";

interface Ask {
  readonly host: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The visitor's address: nginx says it to us. */
  readonly from?: string;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered
  readonly body: any;
}

/** nginx with TLS in front of one process with API and worker, and of two gateways; `x-gateway` chooses one of them. */
async function installation() {
  const { url: DATABASE_URL } = await emptyDatabase();
  const [port, apiPort, ...gatewayPorts] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const common = {
    ...{ DATABASE_URL, PAYMENTS: "embedded", IDENTITY_SECRET: "one secret for all three of them" },
    ...{ APP_URL: `https://${app}:${port}`, ENV_HOST: environments, TRUST_PROXY: "127.0.0.1" },
    ...{ FAKE_DRIVER: "gpus=8", NEWCOMER_SHARE: "1" },
  };
  const open = (ROLES: string, PORT: number) => start({ ...common, DATA_DIR: dataFolder(), ROLES, PORT: String(PORT) });
  await open("api,worker", apiPort).url();
  for (const each of gatewayPorts) await open("gateway", each).url();
  const folder = dataFolder();
  makeCertificate(folder);
  await startNginx({ folder, port, servers: serversOf({ folder, port, apiPort, gatewayPorts }) });
  return {
    ask: (path: string, wanted: Ask) => ask(port, path, wanted),
    socket: (host: string, token: string, from: string) => upgrade(port, host, token, from),
  };
}

function makeCertificate(folder: string): void {
  const names = `subjectAltName=DNS:${app},DNS:*.${environments}`;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", join(folder, "key.pem")];
  const made = ["req", "-x509", ...key, "-out", join(folder, "cert.pem"), "-subj", "/CN=berth", "-addext", names];
  execFileSync("openssl", made, { stdio: "ignore" });
}

function serversOf({
  folder,
  port,
  apiPort,
  gatewayPorts: [one, two],
}: {
  folder: string;
  port: number;
  apiPort: number;
  gatewayPorts: readonly number[];
}): string {
  const shared = `
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    proxy_http_version 1.1;
    proxy_buffering off;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;`;
  return `
  map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
  upstream both { server 127.0.0.1:${one}; server 127.0.0.1:${two}; }
  map $http_x_gateway $gateway { default both; one 127.0.0.1:${one}; two 127.0.0.1:${two}; }
  server { server_name ${app}; ${shared} location / { proxy_pass http://127.0.0.1:${apiPort}; } }
  server { server_name *.${environments}; ${shared} location / { proxy_pass http://$gateway; } }`;
}

function options(port: number, path: string, { host, method = "GET", from = "127.0.0.1" }: Ask, headers: object) {
  return {
    ...{ host: "127.0.0.1", port, path, method, localAddress: from, agent: false, rejectUnauthorized: false },
    ...{ servername: host, headers: { host: `${host}:${port}`, ...headers } },
  };
}

async function ask(port: number, path: string, wanted: Ask): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const json = wanted.body && { "content-type": "application/json" };
  const sent = request(options(port, path, wanted, { ...json, ...wanted.headers }));
  sent
    .on("response", resolve)
    .on("error", reject)
    .end(wanted.body && JSON.stringify(wanted.body));
  const response = await promise;
  const content = await text(response);
  const isJson = String(response.headers["content-type"]).includes("json");
  return { status: response.statusCode, headers: response.headers, body: isJson ? JSON.parse(content) : content };
}

/** The status of a WebSocket's handshake; it stays open until the test ends. */
async function upgrade(port: number, host: string, token: string, from: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const key = randomBytes(16).toString("base64");
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
  };
  const sent = request(options(port, "/api/events/subscribe", { host, from }, { ...headers, authorization: token }));
  sent.on("upgrade", (response, socket: Duplex) => {
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    resolve(response.statusCode);
  });
  sent.on("response", (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  sent.on("error", reject).end();
  return promise;
}

/** A customer with an environment that runs. */
async function rent({ ask }: Awaited<ReturnType<typeof installation>>, name: string) {
  const call = async (method: string, path: string, body?: object, token?: string): Promise<Answer["body"]> => {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await ask(path, { host: app, method, headers, ...(body && { body }) });
    expect(answer, `${method} ${path}`).toMatchObject({ status: 200 });
    return answer.body;
  };
  const account = { email: `${name}@uni.example`, password: "good password 1", name };
  const { access_token } = await call("POST", "/auth/signup", account);
  const signIn = { token: access_token, returnSecureToken: true };
  const { localId, idToken } = await call("POST", "/identity/v1/accounts:signInWithCustomToken?key=local", signIn);
  const request = { subdomain: name, gpu_count: 1 } as const;
  const order = await call("POST", "/docker/payments/create_order", orderBody(localId, request), idToken);
  const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
  const checkout = { key_id: order.key_id, order_id: order.id, method: "card", card };
  const payment_data = await call("POST", "/embedded-gateway/v1/payments/create/checkout", checkout);
  const body = { container_request: containerRequest(localId, request), payment_data };
  const made = await call("POST", "/docker/environment/create", body, idToken);
  const { user_data } = await call("GET", `/profile/${localId}`, undefined, idToken);
  const [id = ""] = Object.keys(user_data.containers);
  return { host: `${name}.${environments}`, secret: `token ${made.jupyter_token}`, id, idToken };
}

const reason = hasNginx ? "" : " (skipped: there is no nginx here)";

test.skipIf(!hasNginx)(
  `behind nginx with TLS and two gateways, 1,000 sockets of one user do not slow another${reason}`,
  async () => {
    const world = await installation();
    const [loud, quiet] = [await rent(world, "loud"), await rent(world, "quiet")];
    const opened: (number | undefined)[] = [];
    for (let n = 0; n < 1000; n += 50) {
      const batch = Array.from({ length: 50 }, () => world.socket(loud.host, loud.secret, "127.0.0.2"));
      opened.push(...(await Promise.all(batch)));
    }
    expect(opened).toContain(101);
    for (const gateway of ["one", "two"]) {
      const headers = { authorization: quiet.secret, "x-gateway": gateway };
      expect(await world.ask("/lab", { host: quiet.host, from: "127.0.0.3", headers })).toMatchObject({ status: 200 });
    }
    expect(await world.socket(quiet.host, quiet.secret, "127.0.0.3")).toBe(101);
  },
  180_000,
);

test.skipIf(!hasNginx)(
  `behind nginx with TLS, a hundred sign-ins at one gateway are known at the other at once${reason}`,
  async () => {
    const world = await installation();
    const { host, id, idToken } = await rent(world, "twice");
    const met: (number | undefined)[] = [];
    for (let n = 0; n < 100; n++) {
      const [here, there] = n % 2 === 0 ? ["one", "two"] : ["two", "one"];
      const asked = { host: app, method: "POST", headers: { authorization: `Bearer ${idToken}` }, body: {} };
      const { code } = (await world.ask(`/environments/${id}/sign-in-code`, asked)).body;
      let path = `/_berth/sign-in?code=${code}&path=/lab`;
      let entered = await world.ask(path, { host, headers: { "x-gateway": String(here) } });
      // The first visit goes round once, to clear what an older environment of the name left.
      if (entered.headers["clear-site-data"]) {
        path = String(entered.headers.location);
        entered = await world.ask(path, { host, headers: { "x-gateway": String(here) } });
      }
      const cookie = entered.headers["set-cookie"]?.find((each) => each.startsWith("__Host-env="))?.split(";")[0] ?? "";
      expect(cookie).not.toBe("");
      met.push((await world.ask("/lab", { host, headers: { cookie, "x-gateway": String(there) } })).status);
    }
    expect(met.filter((status) => status !== 200)).toEqual([]);
  },
  180_000,
);
