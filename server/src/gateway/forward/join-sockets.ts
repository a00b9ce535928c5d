import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endUpgrade, type UpgradeRefusal } from "../refusals/refuse.ts";
import { betweenFrames, type FramePosition, isBetweenFrames, toFrameEnd } from "./frame-position.ts";
import { type Handshake, readHandshake } from "./read-handshake.ts";

/** Buffered from the browser before the handshake response; normally nothing. */
const maxEarlyBytes = 64 * 1024;
/** After one side ended, the timeout for the other to receive the remaining bytes. */
const drainTimeoutMs = 2000;
const notAnswering = { status: 502, code: "not_answering", title: "This environment does not answer" };
const refusedByEnvironment = { code: "refused", title: "The environment refused the connection" };

interface Listeners {
  readonly onBytes: (bytes: number) => void;
  /** The environment did not take the connection. */
  readonly onRefusal: (refusal: UpgradeRefusal) => void;
  /** What is said of a port that gave no answer. */
  readonly silence?: (error: Error | undefined) => UpgradeRefusal;
}

/** The two sockets of a WebSocket. */
export interface Tunnel extends Listeners {
  readonly client: Duplex;
  readonly upstream: Duplex;
  readonly handshake: Handshake;
  /** Bytes from the browser before the environment accepted the handshake. */
  early: Buffer;
  isOpen: boolean;
  isEnding: boolean;
  /** Where the environment's frames stand. */
  readonly frames: FramePosition;
  /** The browser is told to connect again as soon as the frame that is on its way ends. */
  isLeaving: boolean;
}

/**
 * Pipes bytes both ways with back-pressure. When either side ends, so does the other, also while the upstream is still
 * connecting. The caller passes upstream bytes to `fromEnvironment`.
 */
export function joinSockets(client: Duplex, upstream: Duplex, early: Buffer, listeners: Listeners): Tunnel {
  const sides: Tunnel = {
    client,
    upstream,
    ...listeners,
    handshake: { bytes: Buffer.alloc(0) },
    early,
    isOpen: false,
    isEnding: false,
    frames: betweenFrames(),
    isLeaving: false,
  };
  keepOpen(client);
  client.on("data", (chunk: Buffer) => fromBrowser(sides, chunk));
  client.on("drain", () => upstream.resume());
  upstream.on("drain", () => client.resume());
  client.on("error", () => destroy(sides));
  upstream.on("error", (error) => (sides.isOpen ? destroy(sides) : refuse(sides, 502, error)));
  client.on("end", () => end(sides));
  upstream.on("end", () => (sides.isOpen ? end(sides) : refuse(sides, 502)));
  upstream.on("close", () => end(sides));
  client.resume();
  return sides;
}

function fromBrowser(sides: Tunnel, chunk: Buffer): void {
  sides.onBytes(chunk.length);
  if (sides.isOpen) sides.upstream.write(chunk);
  else sides.early = Buffer.concat([sides.early, chunk]);
  if (sides.isOpen ? isFull(sides.upstream) : sides.early.length > maxEarlyBytes) sides.client.pause();
}

/** Returns whether the buffer is still in use. */
export function fromEnvironment(sides: Tunnel, bytes: Buffer): boolean {
  if (sides.isOpen) {
    sides.onBytes(bytes.length);
    toBrowser(sides, bytes);
    if (isFull(sides.client)) sides.upstream.pause();
    return sides.client.writableLength > 0;
  }
  const response = readHandshake(sides.handshake, bytes);
  if (response && "head" in response) open(sides, response.head, response.rest);
  else if (response) refuse(sides, response.status);
  return true;
}

function toBrowser(sides: Tunnel, bytes: Buffer): void {
  if (sides.isEnding) return;
  let at = 0;
  while (at < bytes.length) {
    at = toFrameEnd(sides.frames, bytes, at);
    if (!sides.isLeaving || !isBetweenFrames(sides.frames)) continue;
    sides.client.write(bytes.subarray(0, at));
    return void sayRestart(sides);
  }
  sides.client.write(bytes);
}

/**
 * Tells the browser to connect again, at another gateway (G177): the close code 1012 between two frames. Both sides end then,
 * or after a timeout when a frame does not end.
 */
export function leave(sides: Tunnel): void {
  if (!sides.isOpen) return void destroy(sides);
  if (sides.isEnding || sides.isLeaving) return;
  if (isBetweenFrames(sides.frames)) return void sayRestart(sides);
  sides.isLeaving = true;
  const timeout = setTimeout(() => destroy(sides), drainTimeoutMs);
  sides.client.once("close", () => clearTimeout(timeout));
}

/** A close frame, unmasked, with the code "service restart" (RFC 6455 7.4). */
const serviceRestart = Buffer.from([0x88, 2, 1012 >> 8, 1012 & 0xff]);

function sayRestart(sides: Tunnel): void {
  sides.client.write(serviceRestart);
  end(sides);
}

function open(sides: Tunnel, head: string, rest: Buffer): void {
  const { client, upstream, early } = sides;
  sides.isOpen = true;
  client.write(head, "latin1");
  if (rest.length > 0) toBrowser(sides, rest);
  if (early.length > 0) upstream.write(early);
  sides.early = Buffer.alloc(0);
  client.resume();
}

function refuse(sides: Tunnel, status: number, error?: Error): void {
  if (sides.isEnding) return;
  sides.isEnding = true;
  sides.upstream.destroy();
  const silence = sides.handshake.bytes.length === 0 ? sides.silence?.(error) : undefined;
  const refusal = silence ?? (status >= 400 ? { ...refusedByEnvironment, status } : notAnswering);
  sides.onRefusal(refusal);
  endUpgrade(sides.client, refusal);
}

/** Half-closes both sides, so that the last bytes (a close frame) arrive, then destroys them after a timeout. */
function end(sides: Tunnel): void {
  if (sides.isEnding) return;
  sides.isEnding = true;
  sides.upstream.end();
  sides.client.end();
  const timeout = setTimeout(() => destroy(sides), drainTimeoutMs);
  sides.client.once("close", () => clearTimeout(timeout));
}

function destroy({ client, upstream }: Tunnel): void {
  upstream.destroy();
  client.destroy();
}

/** No idle timeout: a notebook may be silent for days. TCP keep-alive detects a dead peer. */
function keepOpen(client: Duplex): void {
  if (!(client instanceof Socket)) return;
  client.setTimeout(0);
  client.setNoDelay(true);
  client.setKeepAlive(true, 30_000);
}

/** A large write sets `writableNeedDrain` even when the kernel took all of it; no drain event follows then. */
function isFull(to: Duplex): boolean {
  return to.writableNeedDrain && to.writableLength > 0;
}
