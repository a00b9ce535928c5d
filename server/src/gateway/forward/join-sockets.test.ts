import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openUpstream } from "../testing/setup-gateway.ts";
import { fromEnvironment, joinSockets, leave } from "./join-sockets.ts";

const switching = "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n";

/** Both ends of one TCP connection; the text that `far` receives is recorded. */
async function pair() {
  const server = createServer({ allowHalfOpen: true });
  const { port } = await openUpstream(server);
  const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [near]: Socket[] = await once(server, "connection");
  if (!near) throw new Error("no connection");
  onTestFinished(() => void far.destroy());
  let text = "";
  far.on("data", (chunk) => (text += chunk.toString("latin1"))).on("error", () => {});
  return { near, far, received: () => text };
}

/** A browser and an environment, joined by the two sockets between them. */
async function setup(early = "") {
  const [browser, environment] = [await pair(), await pair()];
  let bytes = 0;
  browser.near.setTimeout(60_000);
  const sides = joinSockets(browser.near, environment.near, Buffer.from(early), {
    onBytes: (count) => (bytes += count),
    onRefusal() {},
  });
  environment.near.on("data", (chunk) => void fromEnvironment(sides, chunk));
  return { browser, environment, bytes: () => bytes, leave: () => leave(sides) };
}

test("bytes before the 101 wait for it, and bytes after it follow the head", async () => {
  const { browser, environment, bytes } = await setup("early ");
  browser.far.write("and later");
  await expect.poll(bytes).toBe(9);
  expect(environment.received(), "not before the handshake").toBe("");
  environment.far.write(`${switching}first frame`);
  await expect.poll(browser.received).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nfirst frame$/);
  await expect.poll(environment.received).toBe("early and later");
  environment.far.write("!");
  await expect.poll(browser.received).toMatch(/frame!$/);
  expect(browser.near.timeout, "no idle timeout").toBe(0);
});

test.each([
  ["another status", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404],
  ["a status without a switch", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 502],
  ["a malformed response", "nonsense\r\n\r\n", 502],
])("%s refuses the handshake", async (_name, response, status) => {
  const { browser, environment } = await setup();
  environment.far.write(response);
  await expect.poll(browser.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  await expect.poll(() => environment.near.destroyed).toBe(true);
});

test("an upstream that ends before the handshake is a 502, one that ends after it ends the client", async () => {
  const before = await setup();
  before.environment.far.end();
  await expect.poll(before.browser.received).toMatch(/^HTTP\/1\.1 502 /);

  const after = await setup();
  after.environment.far.write(switching);
  await expect.poll(after.browser.received).toContain("101");
  after.environment.far.end("last words");
  await expect.poll(after.browser.received).toMatch(/last words$/);
  await expect.poll(() => after.browser.far.readableEnded).toBe(true);
});

test("a client that never closes is destroyed two seconds after the upstream has ended", async () => {
  const { browser, environment } = await setup();
  environment.far.write(switching);
  await expect.poll(browser.received).toContain("101");
  environment.far.end();
  await expect.poll(() => browser.far.readableEnded).toBe(true);
  expect(browser.near.destroyed, "the last bytes may still arrive").toBe(false);
  await expect.poll(() => browser.near.destroyed, { timeout: 4000 }).toBe(true);
  expect(environment.near.destroyed).toBe(true);
});

test("a browser is told to connect again between two frames, never inside one (G177)", async () => {
  const { browser, environment, leave } = await setup();
  environment.far.write(`${switching}\x81\x02ab\x81\x04c`, "latin1");
  const last = (length: number) => () => browser.received().slice(-length);
  await expect.poll(last(5)).toBe("ab\x81\x04c");
  leave();
  expect(last(1)(), "its frame is on its way").toBe("c");
  environment.far.write("def\x81\x01g", "latin1");
  await expect.poll(last(8)).toBe("cdef\x88\x02\x03\xf4");
  await expect.poll(() => browser.far.readableEnded).toBe(true);
});
