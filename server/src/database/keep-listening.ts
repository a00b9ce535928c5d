import { setImmediate } from "node:timers/promises";
import type { Client } from "pg";
import { withTimeout } from "../async/with-timeout.ts";
import { type Logger, logError } from "../logging/create-logger.ts";
import { type Connection, clientOf } from "./connection.ts";

interface Listening {
  readonly connection: Connection;
  readonly channel: string;
  readonly listener: (payload: string) => void;
  /** Runs after each (re)connect: notifications may have been lost. */
  readonly reset: (() => void) | undefined;
  readonly log: Logger;
  /** How often the connection is checked. It may take twice as long to answer. */
  readonly checkMs?: number;
}

const reconnectMs = 500;

/**
 * Listens on a connection of its own, and opens another one when it ends or no longer answers: behind a firewall that forgot
 * it, or after a failover, a connection that only listens would look open for hours. Returns a function that ends it.
 */
export async function keepListening(listening: Listening): Promise<() => Promise<void>> {
  const { reset, log, checkMs = 3000 } = listening;
  let current: Client | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const failed = logError(log, "database.listening_failed");

  async function connect(): Promise<void> {
    const client = await connectAndListen(listening, failed);
    // Registered after the connect: a client that fails to connect emits "end" too, and would be replaced twice.
    client.on("end", () => reconnect());
    current = client;
    if (stopped) await client.end();
    else reset?.();
  }

  function reconnect(error?: unknown): void {
    if (error) failed(error);
    if (!stopped) timer = setTimeout(() => void connect().catch(reconnect), reconnectMs);
  }

  let checking: Client | undefined;
  async function check(): Promise<void> {
    if (!current || current === checking) return;
    const checked = current;
    checking = checked;
    const isAlive = await answers(checked, 2 * checkMs);
    checking = undefined;
    if (isAlive || stopped) return;
    failed(new Error(`The connection that listens has not answered for ${(2 * checkMs) / 1000} s`));
    // With a query that waits this destroys the socket, which emits "end".
    void checked.end().catch(() => {});
  }

  await connect();
  const checks = setInterval(() => void check(), checkMs);
  return async () => {
    stopped = true;
    clearInterval(checks);
    clearTimeout(timer);
    await current?.end().catch(failed);
  };
}

async function connectAndListen({ connection, channel, listener }: Listening, failed: (error: unknown) => void) {
  const client = new (clientOf(connection))({ ...connection, keepAlive: true });
  client.on("notification", ({ payload }) => listener(payload ?? ""));
  client.on("error", failed);
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** False when there is no answer in time. One that failed has ended its connection already, or is an answer. */
async function answers(client: Client, ms: number): Promise<boolean> {
  let isAnswered = false;
  const note = () => {
    isAnswered = true;
  };
  await withTimeout(client.query("select 1").then(note, note), ms, () => {});
  // After a blocked event loop the timer comes first, and what has arrived is read now.
  await setImmediate();
  return isAnswered;
}
