import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { jumpHostKey } from "../../installation/jump-host-key.ts";
import { seeded } from "../../testing/random.ts";
import { setupGateway } from "../testing/setup-gateway.ts";
import { listenSsh } from "./testing/ssh-client.ts";

const rounds = 500;
const atOnce = 20;
const heads = ["SSH-2.0-x\r\n", "SSH-1.0-x\r\n", "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-", "\r\n", ""];

/** A head, perhaps a packet of any type with a length that is right or not, then noise. */
function bytesOf(seed: number): Buffer {
  const next = seeded(seed);
  const { below } = next;
  const noise = (length: number) => Buffer.from(Array.from({ length }, () => below(256)));
  const payload = Buffer.concat([Buffer.from([below(101)]), noise(below(300))]);
  const padding = 4 + below(8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(next() < 0.7 ? payload.length + padding + 1 : below(2 ** 32));
  head[4] = next() < 0.9 ? padding : below(256);
  const packets = next() < 0.8 ? [head, payload, noise(padding)] : [];
  return Buffer.concat([Buffer.from(heads[below(heads.length)] ?? ""), ...packets, noise(below(400))]);
}

/** The first line that the jump host says. */
async function greeting(port: number, sent: Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.end(sent);
  let said = "";
  try {
    for await (const bytes of socket) said += (bytes as Buffer).toString("latin1");
  } catch {
    // It was reset.
  }
  return said.split("\r\n", 1)[0] ?? "";
}

test(`G405 ${rounds} connections that send anything leave the jump host as it was`, async () => {
  const secret = randomBytes(32);
  const { gateway, failures } = await setupGateway({ secret });
  const port = await listenSsh(gateway);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  try {
    for (let first = 0; first < rounds; first += atOnce)
      await Promise.all(Array.from({ length: atOnce }, (_, index) => greeting(port, bytesOf(first + index))));
  } finally {
    process.off("uncaughtException", note).off("unhandledRejection", note);
  }
  expect(unhandled).toEqual([]);
  expect(failures).toEqual([]);
  expect(gateway.counts.openSsh).toBe(0);
  expect(await greeting(port, Buffer.alloc(0))).toBe("SSH-2.0-Berth");
});

test("the jump host's key is the same for one secret, and another for another", () => {
  const secret = randomBytes(32);
  expect(jumpHostKey(secret)).toEqual(jumpHostKey(Buffer.from(secret)));
  expect(jumpHostKey(secret).publicKey).not.toBe(jumpHostKey(randomBytes(32)).publicKey);
  expect(jumpHostKey(secret).publicKey).toMatch(/^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]+=*$/);
});
