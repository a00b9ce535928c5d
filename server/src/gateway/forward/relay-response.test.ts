import { createHash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { ResponseHead } from "../http-client/response-head.ts";
import { openUpstream } from "../testing/setup-gateway.ts";
import { relayResponse } from "./relay-response.ts";

const okHead: ResponseHead = {
  status: 200,
  headers: ["X-A", "1", "Clear-Site-Data", '"*"'],
  framing: { kind: "chunked" },
  keepAlive: true,
};

/** A handler that writes to a real connection, and the client's side of it. */
async function setup() {
  const arrived = Promise.withResolvers<ServerResponse>();
  const { port } = await openUpstream(createServer((_request, response) => arrived.resolve(response)));
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  const chunks: Buffer[] = [];
  client.on("data", (chunk) => chunks.push(chunk));
  client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const response = await arrived.promise;
  const run = { silentSinceMs: 1 as number | undefined };
  const calls: string[] = [];
  let bytes = 0;
  const handler = relayResponse(response, run, (count) => (bytes += count), {
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
  });
  return { client, response, run, calls, handler, bytes: () => bytes, received: () => Buffer.concat(chunks) };
}

test("a head without a body at hand is sent at once, without barred fields, and ends the silence", async () => {
  const { handler, received, run } = await setup();
  handler.onHead(okHead, false);
  await expect.poll(() => received().toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nX-A: 1\r\n[\s\S]*\r\n\r\n$/);
  expect(received().toString()).not.toContain("Clear-Site-Data");
  expect(run.silentSinceMs).toBeUndefined();
});

test("a small chunk is copied, because its buffer is overwritten, and the last one ends the response once", async () => {
  const { handler, received, response, bytes } = await setup();
  handler.onHead(okHead, true);
  const buffer = Buffer.from("first");
  expect(handler.onData(buffer, false)).toBe(false);
  buffer.fill("x");
  expect(handler.onData(Buffer.from("last"), true)).toBe(false);
  handler.onEnd();
  await expect.poll(() => response.writableFinished).toBe(true);
  await expect.poll(() => received().toString()).toMatch(/5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n$/);
  expect(bytes()).toBe(9);
});

test("a slow client pauses the upstream once, which resumes when it reads, and no byte is lost", async () => {
  const { handler, client, calls, received } = await setup();
  handler.onHead({ ...okHead, headers: [] }, true);
  client.pause();
  const sent = createHash("sha256");
  const send = (isLast: boolean) => {
    const chunk = randomBytes(256 * 1024);
    sent.update(chunk);
    return handler.onData(chunk, isLast);
  };
  let isKept = false;
  for (let n = 0; n < 200 && calls.length === 0; n++) isKept = send(false);
  expect(calls).toEqual(["pause"]);
  expect(isKept, "its buffer is still in use").toBe(true);
  send(false);
  expect(calls, "paused already").toEqual(["pause"]);
  client.resume();
  await expect.poll(() => calls).toEqual(["pause", "resume"]);
  send(true);
  handler.onEnd();
  await expect.poll(() => client.readableEnded, { timeout: 10_000 }).toBe(true);
  expect(createHash("sha256").update(bodyOf(received())).digest("hex")).toBe(sent.digest("hex"));
});

/** Decodes a chunked response. */
function bodyOf(response: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = response.indexOf("\r\n\r\n") + 4; ; ) {
    const lineEnd = response.indexOf("\r\n", at);
    const size = Number.parseInt(response.toString("latin1", at, lineEnd), 16);
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(response.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
