import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { expect, onTestFinished } from "vitest";
import { openChanges } from "../../database/changes.ts";
import { testDatabase } from "../../database/testing.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { enqueueMail, startOutbox } from "../outbox.ts";
import { renderEmail } from "../render-email.ts";

export const email = renderEmail({
  brandName: "Berth",
  name: "Ada",
  subject: "Grüße from the quay",
  paragraphs: ["Your environment answers."],
  button: { label: "Open", url: "https://berth.example/environments" },
  footnotes: [],
});

/** An SMTP server that keeps accepted mails. */
export async function relay(options: SMTPServerOptions = {}) {
  const taken: { to: string[]; raw: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    async onData(stream, { envelope }, done) {
      taken.push({ to: envelope.rcptTo.map(({ address }) => address), raw: await text(stream) });
      done();
    },
    ...options,
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return { taken, port: (server.server.address() as AddressInfo).port };
}

export async function setup() {
  const database = await testDatabase();
  const changes = await openChanges(database);
  onTestFinished(database.close);
  const { db } = database;
  const { log, errors } = recordLog();
  return {
    db,
    failures: () => errors.map(String),
    enqueue: (cause: string, change: { to?: string; usefulForSeconds?: number } = {}) =>
      db
        .transaction()
        .execute((tx) => enqueueMail(tx, { userId: "ada", to: "ada@uni.example", cause, ...email, ...change })),
    start(port: number) {
      const loop = startOutbox({
        db,
        changes,
        smtp: { url: `smtp://127.0.0.1:${port}`, from: { name: "Berth", address: "hello@berth.example" } },
        log,
        backoff: { firstMs: 20, longestMs: 60_000 },
      });
      onTestFinished(loop.stop);
      return loop;
    },
    rows: () => db.selectFrom("mails").selectAll().orderBy("created_at").execute(),
  };
}

/** Waits until no mail is queued. */
export async function ended(rows: () => Promise<{ status: string }[]>): Promise<string[]> {
  const statuses = async () => (await rows()).map(({ status }) => status);
  await expect.poll(statuses, { timeout: 10_000 }).not.toContain("queued");
  return statuses();
}

/** A TCP proxy to the relay that resets the first connections when `word` comes from the given side. */
export async function cutter(
  port: number,
  { cuts, from, word }: { cuts: number; from: "client" | "relay"; word: RegExp },
) {
  const sockets = new Set<Socket>();
  let left = cuts;
  const server = createServer((client) => {
    const onward = new (client.constructor as typeof Socket)().connect(port, "127.0.0.1");
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => void [client.destroy(), onward.destroy()]);
    }
    const pass = (source: Socket, target: Socket, side: "client" | "relay") =>
      source.on("data", (chunk) => {
        if (side === from && left > 0 && word.test(chunk.toString())) {
          left--;
          client.resetAndDestroy();
          // The relay keeps what it has received.
          onward.end();
          return;
        }
        target.write(chunk);
      });
    pass(client, onward, "client");
    pass(onward, client, "relay");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
