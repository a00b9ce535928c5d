import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { containerRequest, orderBody } from "../../testing/test-app.ts";

/** The names in the files that are shipped in `deploy/`. */
export const app = "berth.example";
export const environments = "berth-run.example";

export interface Ask {
  readonly host: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The visitor's address: the proxy says it to us. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered
  readonly body: any;
}

/** The certificate and the key of both names, as the shipped files call them. */
export function makeCertificate(folder: string): void {
  const names = `subjectAltName=DNS:${app},DNS:*.${environments}`;
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    join(folder, "privkey.pem"),
  ];
  const made = ["req", "-x509", ...key, "-out", join(folder, "fullchain.pem"), "-subj", "/CN=berth", "-addext", names];
  execFileSync("openssl", made, { stdio: "ignore" });
}

/** The options of a request through the proxy on `port`. */
export function options(
  port: number,
  path: string,
  { host, method = "GET", from = "127.0.0.1" }: Ask,
  headers: object,
) {
  return {
    ...{ host: "127.0.0.1", port, path, method, localAddress: from, agent: false, rejectUnauthorized: false },
    ...{ servername: host, headers: { host: `${host}:${port}`, ...headers } },
  };
}

/** One request through the proxy on `port`. */
export async function ask(port: number, path: string, wanted: Ask): Promise<Answer> {
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
export async function upgrade(port: number, host: string, token: string, from: string): Promise<number | undefined> {
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
export async function rent({ ask }: { readonly ask: (path: string, wanted: Ask) => Promise<Answer> }, name: string) {
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
