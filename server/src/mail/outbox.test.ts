import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { enqueueMail } from "./outbox.ts";
import { cutter, email, ended, relay, setup } from "./testing/relay.ts";

const messageId = (raw: string) => /^Message-ID: <(.+)>/im.exec(raw)?.[1];

test("a queued mail arrives complete and once, and its text is deleted then", async () => {
  const { enqueue, start, rows, failures } = await setup();
  const { taken, port } = await relay();
  start(port);
  await enqueue("ready:1");
  await enqueue("ready:1");
  expect(await ended(rows)).toEqual(["sent"]);
  expect(taken).toHaveLength(1);
  const { to, raw } = taken[0] ?? { to: [], raw: "" };
  expect(to).toEqual(["ada@uni.example"]);
  expect(raw).toMatch(/^From: Berth <hello@berth\.example>/m);
  expect(raw).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(raw).toMatch(/^Auto-Submitted: auto-generated/m);
  expect(raw).toContain("text/plain");
  expect(raw).toContain("text/html");
  const [row] = await rows();
  expect(row).toMatchObject({ body_text: "", body_html: "", lease_token: null, attempts: 1 });
  expect(messageId(raw)).toBe(`${row?.id}@berth.example`);
  expect(failures()).toEqual([]);
});

test("two servers with one outbox send each mail once", async () => {
  const { enqueue, start, rows } = await setup();
  const { taken, port } = await relay();
  for (let n = 0; n < 12; n++) await enqueue(`n:${n}`);
  start(port);
  start(port);
  expect(new Set(await ended(rows))).toEqual(new Set(["sent"]));
  expect(taken).toHaveLength(12);
  expect(new Set(taken.map(({ raw }) => messageId(raw))).size).toBe(12);
});

test("a mail of a transaction that is rolled back is never sent", async () => {
  const { db, enqueue, start, rows } = await setup();
  const { taken, port } = await relay();
  start(port);
  const undone = db.transaction().execute(async (tx) => {
    await enqueueMail(tx, { userId: "ada", to: "ada@uni.example", cause: "undone", ...email });
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  await enqueue("done");
  expect(await ended(rows)).toEqual(["sent"]);
  expect(taken).toHaveLength(1);
});

test.each(["onMailFrom", "onRcptTo", "onData"] as const)(
  "a 4xx in %s is tried again until it is taken",
  async (step) => {
    const { enqueue, start, rows, failures } = await setup();
    let refusals = 2;
    const taken: string[] = [];
    const later = () => Object.assign(new Error("Come back later"), { responseCode: 451 });
    const { port } = await relay({
      async onData(stream, _session, done) {
        const raw = await text(stream);
        if (step === "onData" && refusals-- > 0) return done(later());
        taken.push(raw);
        done();
      },
      ...(step !== "onData" && {
        [step]: (_address: unknown, _session: unknown, done: (error?: Error) => void) =>
          done(refusals-- > 0 ? later() : undefined),
      }),
    });
    start(port);
    await enqueue("ready:1");
    expect(await ended(rows)).toEqual(["sent"]);
    expect(taken).toHaveLength(1);
    expect(failures()).toHaveLength(2);
    expect((await rows())[0]?.attempts).toBe(3);
  },
);

test("a 5xx to the recipient ends the mail with a log line, and does not block others", async () => {
  const { enqueue, start, rows, failures } = await setup();
  const { taken, port } = await relay({
    onRcptTo({ address }, _session, done) {
      done(address.startsWith("gone") ? Object.assign(new Error("No such user"), { responseCode: 550 }) : undefined);
    },
  });
  start(port);
  await enqueue("to:gone", { to: "gone@uni.example" });
  await enqueue("to:ada");
  expect((await ended(rows)).toSorted()).toEqual(["refused", "sent"]);
  expect(taken).toHaveLength(1);
  expect(failures()).toEqual([expect.stringContaining("refused for good")]);
  const refused = (await rows()).find(({ status }) => status === "refused");
  expect(refused).toMatchObject({ attempts: 1, body_text: "", last_error: expect.stringContaining("No such user") });
});

test("a 5xx to our authentication is retried: the mail is sent when the settings are corrected", async () => {
  const { enqueue, start, rows, failures } = await setup();
  let wrong = true;
  const { taken, port } = await relay({
    onMailFrom(_address, _session, done) {
      done(wrong ? Object.assign(new Error("Not from you"), { responseCode: 550 }) : undefined);
    },
  });
  start(port);
  await enqueue("ready:1");
  await expect.poll(() => failures().length).toBeGreaterThan(1);
  wrong = false;
  expect(await ended(rows)).toEqual(["sent"]);
  expect(taken).toHaveLength(1);
});

test.each([
  ["at the greeting", { from: "relay", word: /^220/ }],
  ["before the mail", { from: "client", word: /^DATA/m }],
] as const)("a connection that is cut %s costs nothing: the mail arrives once", async (_when, cut) => {
  const { enqueue, start, rows, failures } = await setup();
  const { taken, port } = await relay();
  start(await cutter(port, { cuts: 2, ...cut }));
  await enqueue("ready:1");
  expect(await ended(rows)).toEqual(["sent"]);
  expect(taken).toHaveLength(1);
  expect(failures()).toHaveLength(2);
});

test("after a connection reset behind an accepted mail it is sent again with the same Message-ID", async () => {
  const { enqueue, start, rows } = await setup();
  const { taken, port } = await relay();
  start(await cutter(port, { cuts: 1, from: "relay", word: /^250 .*(queued|OK: message)/i }));
  await enqueue("ready:1");
  expect(await ended(rows)).toEqual(["sent"]);
  expect(taken).toHaveLength(2);
  expect(new Set(taken.map(({ raw }) => messageId(raw))).size).toBe(1);
});

test("without a relay the mail waits, and one whose lifetime ends is dropped with a log line", async () => {
  const { enqueue, start, rows, failures } = await setup();
  const { taken, port } = await relay();
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const nobody = (closed.address() as AddressInfo).port;
  closed.close();
  await once(closed, "close");
  const early = start(nobody);
  await enqueue("long");
  await enqueue("short", { usefulForSeconds: 0.2 });
  await expect.poll(() => failures().filter((each) => each.includes("ECONNREFUSED")).length).toBeGreaterThan(1);
  await expect.poll(() => failures().join()).toContain("could not be sent in time");
  await early.stop();
  start(port);
  expect((await ended(rows)).toSorted()).toEqual(["lapsed", "sent"]);
  expect(taken).toHaveLength(1);
});

/** The lease of another server. */
const theirs = "11111111-1111-4111-8111-111111111111";

test("a mail leased by another server is skipped, and taken over when its lease expires", async () => {
  const { db, enqueue, start, rows } = await setup();
  const { taken, port } = await relay();
  await enqueue("ready:1");
  const inHand = { lease_token: theirs, lease_expires_at: new Date(Date.now() + 60_000) };
  await db.updateTable("mails").set(inHand).execute();
  const loop = start(port);
  await enqueue("ready:2");
  await expect.poll(async () => (await rows()).map(({ status }) => status)).toEqual(["queued", "sent"]);
  expect((await rows())[0]?.lease_token).toBe(theirs);
  await db
    .updateTable("mails")
    .set({ lease_expires_at: new Date(0) })
    .where("status", "=", "queued")
    .execute();
  loop.trigger();
  expect(await ended(rows)).toEqual(["sent", "sent"]);
  expect(taken).toHaveLength(2);
});

test("a silent relay does not delay the shutdown", async () => {
  const { enqueue, start, rows } = await setup();
  const held = new Set<Socket>();
  const silent = createServer((socket) => void held.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => {
    for (const socket of held) socket.destroy();
    silent.close();
  });
  const loop = start((silent.address() as AddressInfo).port);
  await enqueue("ready:1");
  await expect.poll(() => held.size).toBe(1);
  const startedMs = performance.now();
  await loop.stop();
  expect(performance.now() - startedMs).toBeLessThan(4000);
  const [row] = await rows();
  expect(row).toMatchObject({ status: "queued", lease_token: expect.any(String) });
  for (const socket of held) socket.destroy();
  await expect.poll(async () => (await rows())[0]?.lease_token).toBeNull();
});

test.each([451, undefined])(
  "an answer (%s) that comes after the lease expired writes nothing",
  async (responseCode) => {
    const { db, enqueue, start, rows } = await setup();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    let reached = false;
    const { port } = await relay({
      async onData(stream, _session, done) {
        await text(stream);
        reached = true;
        await held;
        done(responseCode ? Object.assign(new Error("Come back later"), { responseCode }) : undefined);
      },
    });
    const loop = start(port);
    await enqueue("ready:1");
    await expect.poll(() => reached).toBe(true);
    await db.updateTable("mails").set({ lease_token: theirs }).execute();
    letGo();
    await loop.stop();
    expect(await rows()).toMatchObject([{ status: "queued", lease_token: theirs, last_error: null }]);
  },
);
