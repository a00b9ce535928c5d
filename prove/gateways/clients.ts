import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, type EnvironmentAddress, upgrade } from "../notebook.ts";

/** What one client saw. */
export interface Gaps {
  /** The longest time from one answer to the next. */
  readonly longestMs: number;
  readonly answers: number;
  /** Requests that failed, or times that it had to connect again. */
  readonly failures: number;
}

const pauseMs = 20;
const message = Buffer.concat([Buffer.from([0x82, 0x80 | 8, 1, 2, 3, 4]), Buffer.alloc(8)]);

/** One request after the other, each on a connection of its own; one that failed is repeated at once. */
export async function keepAsking(address: EnvironmentAddress, signal: AbortSignal): Promise<Gaps> {
  const gaps = follow();
  while (!signal.aborted) {
    const status = await ask(address, "/api/terminals", { timeoutMs: 5000 }).then(
      (reply) => reply.status,
      () => 0,
    );
    if (status === 200) gaps.answer();
    else gaps.failures += 1;
    await sleep(pauseMs);
  }
  return gaps;
}

/** An echo after the other over a WebSocket; where it closes, or does not open, it connects again at once. */
export async function keepTalking(address: EnvironmentAddress, signal: AbortSignal): Promise<Gaps> {
  const gaps = follow();
  while (!signal.aborted) {
    const socket = await upgrade(address, "/echo").catch(() => 0);
    if (typeof socket === "number") await sleep(pauseMs);
    else await talk(socket, gaps, signal);
    if (!signal.aborted) gaps.failures += 1;
  }
  return gaps;
}

/** Until the socket ends. */
async function talk(socket: Socket, gaps: ReturnType<typeof follow>, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const end = () => socket.destroy();
  signal.addEventListener("abort", end, { once: true });
  socket.on("close", () => resolve());
  socket.on("data", (bytes: Buffer) => {
    // A frame that closes.
    if (bytes[0] === 0x88) return end();
    gaps.answer();
    setTimeout(() => socket.write(message), pauseMs);
  });
  socket.on("end", end);
  socket.write(message);
  await ended;
  signal.removeEventListener("abort", end);
}

function follow() {
  let last = performance.now();
  return {
    longestMs: 0,
    answers: 0,
    failures: 0,
    answer() {
      const now = performance.now();
      this.longestMs = Math.max(this.longestMs, now - last);
      this.answers += 1;
      last = now;
    },
  };
}
