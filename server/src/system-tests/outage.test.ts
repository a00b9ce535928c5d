import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyEndpoint } from "@berth/contract";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../database/testing.ts";
import { silentLogger } from "../logging/create-logger.ts";
import { softwarePasskey } from "../testing/software-passkey.ts";
import { orderBody, testApp } from "../testing/test-app.ts";

/** A socket between the product and its database that can be taken away, and put back. */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "berth-between-"));
  const path = join(folder, ".s.PGSQL.5432");
  const sockets = new Set<Socket>();
  let target = "";
  const server = createServer((near) => {
    const far = createConnection(join(target, ".s.PGSQL.5432"));
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = () => new Promise<void>((resolve) => server.listen(path, resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen();
  const database = await testDatabase({
    through: async (folderOfCluster) => {
      target = folderOfCluster;
      return folder;
    },
    log: silentLogger,
  });
  const product = await testApp({}, { database });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...product, gone: close, back: listen };
}

/** Made of configuration and content alone, or sealed and kept nowhere. */
const needsNothing = new Set(["/config", "/support/catalog", "/auth/passkeys/sign-in/options"]);

test("without its database every call is 503 with Retry-After, and works again once it is back", async () => {
  const { routes, signUp, call, gone, back } = await setup();
  const { token, id } = await signUp();
  await gone();
  const url = ({ path }: AnyEndpoint) =>
    path
      .replace("{user_id}", id)
      .replace("{action}", "stop")
      .replace("{name}", "free-lab")
      .replace(/\{\w+\}/, "a".repeat(25));
  const device = softwarePasskey();
  const bodies: Readonly<Record<string, unknown>> = {
    "/auth/signup": { email: "new@example.com", password: "good password 1", name: "New" },
    "/auth/reset-password": { email: "new@example.com" },
    "/auth/providers/finish": { code: "any" },
    "/auth/passkeys/sign-in": {
      credential: device.use({ rpId: "x", challenge: "eA", timeout: 1, userVerification: "required" }),
    },
    "/support/searches": { words: "slurm" },
    "/docker/payments/create_order": orderBody(id),
  };
  for (const endpoint of routes.flatMap(({ config }) => config?.endpoint ?? [])) {
    if (needsNothing.has(endpoint.path)) continue;
    const body = endpoint.method === "GET" ? undefined : (bodies[endpoint.path] ?? {});
    const answer = await call(endpoint.method, url(endpoint), token, body);
    const where = `${endpoint.method} ${endpoint.path}: ${answer.body}`;
    expect([answer.statusCode, answer.json().status, answer.json().code], where).toEqual([503, "error", "unavailable"]);
    expect(Number(answer.headers["retry-after"]), where).toBeGreaterThan(0);
  }
  const signIn = { email: "ada@example.com", password: "good password 1" };
  const dialect = await call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, signIn);
  expect([dialect.statusCode, dialect.json().error.message]).toEqual([503, "UNAVAILABLE"]);
  expect(Number(dialect.headers["retry-after"])).toBeGreaterThan(0);
  expect((await call("GET", "/embedded-gateway/v1/checkout?order_id=order_1")).statusCode).toBe(503);
  expect((await call("GET", "/events", token)).statusCode).toBe(503);
  expect([(await call("GET", "/readyz")).statusCode, (await call("GET", "/healthz")).statusCode]).toEqual([503, 200]);
  expect((await call("GET", "/config")).statusCode).toBe(200);
  await back();
  expect((await call("GET", "/readyz")).statusCode).toBe(200);
  expect((await call("GET", `/profile/${id}`, token)).statusCode).toBe(200);
});
