import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { publicKeys } from "../../account/ssh-keys/testing/public-keys.ts";
import { setupRoutes } from "../testing/setup-routes.ts";
import { type JumpHost, sshAccessOf } from "./ssh-access.ts";

const [{ type, base64 }] = publicKeys;
const key = `${type} ${base64}`;
const jumpHost: JumpHost = { host: "berth.example", port: 2222, publicKey: key };
const run_token = "token";

/** What a run answers, whose owner's code may answer in its place. */
async function runThatAnswers(status: number, body: unknown) {
  const asked: unknown[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push([url, headers.authorization]);
    response.writeHead(status).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const endpoint = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  return { asked, row: { subdomain: "demo", status: "active" as const, endpoint, run_token } };
}

test("G413 the config leads through the jump host to a name that only it knows, with both host keys", async () => {
  const { asked, row } = await runThatAnswers(200, { host_key: `${key} berth`, user: "berth" });
  expect(await sshAccessOf(row, jumpHost)).toEqual({
    available: true,
    reason: null,
    connection: {
      ...{ jump_host: "berth.example", jump_port: 2222, host: "demo.berth", user: "berth" },
      command: "ssh -J berth@berth.example:2222 berth@demo.berth",
      config: "Host demo.berth\n  User berth\n  ProxyJump berth@berth.example:2222\n",
      known_hosts: [`[berth.example]:2222 ${key}`, `demo.berth ${key}`],
    },
  });
  expect(asked).toEqual([["/berth/ssh/host-key", "token token"]]);
  const usual = await sshAccessOf(row, { ...jumpHost, port: 22 });
  expect(usual.connection?.known_hosts[0], "as ssh writes the usual port").toBe(`berth.example ${key}`);
});

test.each([
  ["a line break in the user's name", { host_key: key, user: "berth\n  ProxyCommand sh" }],
  ["an option as the user's name", { host_key: key, user: "-oProxyCommand=sh" }],
  ["no text", { host_key: 7, user: "berth" }],
  ["no key", { host_key: "demo.berth * ", user: "berth" }],
  ["a list", []],
  ["nothing", null],
])("%s in a run's answer is not passed on", async (_, body) => {
  const { row } = await runThatAnswers(200, body);
  const { available, reason, connection } = await sshAccessOf(row, jumpHost);
  expect([available, reason]).toEqual([false, "The environment does not answer now."]);
  expect(connection?.config).toBe("Host demo.berth\n  User berth\n  ProxyJump berth@berth.example:2222\n");
  expect(connection?.known_hosts).toHaveLength(1);
});

test("lines after a run's key are not passed on", async () => {
  const { row } = await runThatAnswers(200, { host_key: `${key}\n* ${key}`, user: "berth" });
  expect((await sshAccessOf(row, jumpHost)).connection?.known_hosts[1]).toBe(`demo.berth ${key}`);
});

test.each([
  [501, "SSH is not installed on the machine of this environment.", null],
  [404, "This environment was started before it had SSH: stop it and restart it once.", null],
  [507, "The environment does not answer now.", { host: "demo.berth" }],
])("a run that answers %i", async (status, reason, connection) => {
  const { row } = await runThatAnswers(status, {});
  const access = await sshAccessOf(row, jumpHost);
  expect(access).toMatchObject({ available: false, reason });
  if (connection === null) expect(access.connection).toBeNull();
  else expect(access.connection).toMatchObject(connection);
});

test("what does not run has its config and says why it does not answer", async () => {
  const resting = { subdomain: "demo", endpoint: null, run_token: null };
  for (const status of ["pending", "paused", "stopped", "terminated", "unknown"] as const) {
    const access = await sshAccessOf({ ...resting, status }, jumpHost);
    expect(access).toMatchObject({ available: false, connection: { host: "demo.berth" } });
    expect(access.reason).toMatch(/^It.*\.$/);
  }
});

test("an installation without SSH says so; another account's environment is none", async () => {
  const { call, rent } = await setupRoutes();
  const id = await rent();
  const answer = { available: false, reason: "SSH is not offered here.", connection: null };
  expect(await call("GET", `/environments/${id}/ssh`)).toEqual({ code: 200, status: "success", ...answer });
  expect(await call("GET", `/environments/${id}/ssh`, { user: "other" })).toMatchObject({ code: "not_found" });
});
