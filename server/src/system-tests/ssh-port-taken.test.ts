import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { create, orderAndPay, send, signUp } from "../../../testing/customer.ts";
import { start } from "../testing/server-process.ts";

test("G428 where another program has the port of SSH, an environment's page does not lead to it", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const server = start({ RUNTIME: "fake", SSH_PORT: String(port), SSH_HOST: "127.0.0.1" });
  const url = await server.url();
  expect(server.logged()).toContainEqual(expect.objectContaining({ event: "ssh.not_served" }));
  const customer = await signUp(url);
  const { body } = await create(url, customer, await orderAndPay(url, customer, { subdomain: `demo-${Date.now()}` }));
  const answer = await send(url, "GET", `/environments/${body.environment_id}/ssh`, { token: customer.idToken });
  expect(answer.body).toMatchObject({ available: false, reason: "SSH is not offered here.", connection: null });
}, 60_000);
