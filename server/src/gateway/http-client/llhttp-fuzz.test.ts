import { Agent, request } from "node:http";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { type Random, seeded } from "../../testing/random.ts";
import { createResponseReader, endsHere, expectResponse, readResponse } from "./response-reader.ts";

/** A parser's result for the bytes of one connection; undefined if it refuses them, or waits for more. */
interface Accepted {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
  readonly keepsAlive: boolean;
  /** "more": ended by the connection's end only. */
  readonly state?: string;
}

const cases = Number(process.env["FUZZ_CASES"] ?? 2000);
const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

test(`llhttp accepts what our parser accepts, with the same result: ${cases} responses of seed ${seed}`, async () => {
  const pick = seeded(seed).of;
  const counts = { both: 0, stricter: 0, neither: 0 };
  for (let n = 0; n < cases; n++) {
    const isHead = pick([true, false, false, false, false]);
    const text = generate(pick);
    const pieces = withoutSurplus(split(text, pick), isHead);
    const ours = readOurs(pieces, isHead);
    const theirs = await readLlhttp(pieces, isHead);
    const shown = `seed ${seed}, case ${n}${isHead ? " (HEAD)" : ""}: ${JSON.stringify(text)}`;
    if (ours) expect(ours, shown).toEqual(theirs && { ...ours, ...theirs, keepsAlive: ours.keepsAlive });
    // After a HEAD llhttp never reuses a connection whose response has no length.
    if (ours?.keepsAlive && !isHead) expect(theirs?.keepsAlive, shown).toBe(true);
    counts[ours ? "both" : theirs ? "stricter" : "neither"] += 1;
  }
  // Otherwise the generator would prove nothing.
  expect(counts.both, JSON.stringify(counts)).toBeGreaterThan(cases / 10);
  expect(counts.neither, JSON.stringify(counts)).toBeGreaterThan(cases / 10);
});

function readOurs(pieces: readonly Buffer[], isHead: boolean): Accepted | undefined {
  const reader = createResponseReader();
  let body = "";
  let isComplete = false;
  const handler = {
    onHead() {},
    onData(piece: Buffer) {
      body += piece.toString("latin1");
      return false;
    },
    onEnd() {
      isComplete = true;
    },
  };
  expectResponse(reader, handler, isHead);
  let state = "more";
  try {
    for (const piece of pieces) {
      state = readResponse(reader, piece);
      if (state !== "more") break;
    }
  } catch {
    return undefined;
  }
  if (!isComplete) endsHere(reader);
  const { head } = reader;
  if (!isComplete || !head) return undefined;
  const fields = comparable(head.headers);
  return { status: head.status, fields, body, keepsAlive: head.keepAlive && state === "done", state };
}

/** Drops bytes after a complete response: ours closes the connection, and llhttp fails. */
function withoutSurplus(pieces: readonly Buffer[], isHead: boolean): readonly Buffer[] {
  if (readOurs(pieces, isHead)?.state !== "surplus") return pieces;
  const bytes = Buffer.concat(pieces);
  let end = 1;
  while (readOurs([bytes.subarray(0, end)], isHead)?.state !== "done") end++;
  return [bytes.subarray(0, end)];
}

/** Node's client reads with llhttp. */
function readLlhttp(pieces: readonly Buffer[], isHead: boolean): Promise<Accepted | undefined> {
  const { promise, resolve } = Promise.withResolvers<Accepted | undefined>();
  const rest = [...pieces];
  const socket = new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      done();
      for (const piece of rest.splice(0)) socket.push(piece);
      socket.push(null);
    },
  });
  socket.on("error", () => {});
  const agent = new Agent({ keepAlive: true });
  agent.createConnection = () => socket;
  Object.assign(agent, { keepSocketAlive: () => false });
  const sent = request({ agent, method: isHead ? "HEAD" : "GET", maxHeaderSize: 64 * 1024 }, (response) => {
    let body = "";
    response.setEncoding("latin1").on("data", (piece) => {
      body += piece;
    });
    const fields = comparable(response.rawHeaders, response.headers.connection);
    const { statusCode: status = 0 } = response;
    response.on("error", () => resolve(undefined));
    response.on("close", () =>
      resolve(response.complete ? { status, fields, body, keepsAlive: sent.shouldKeepAlive } : undefined),
    );
  });
  sent.on("error", () => resolve(undefined)).on("upgrade", () => resolve(undefined));
  sent.end();
  return promise;
}

const ofConnection = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "trailer",
  "upgrade",
  "te",
  "content-length",
]);

/** Without the fields of the connection, which ours drops; names in lower case. */
function comparable(fields: readonly string[], connection = ""): string[] {
  const listed = new Set(
    connection
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase();
    if (!ofConnection.has(name) && !listed.has(name)) kept.push(`${name}: ${fields[i + 1]}`);
  }
  return kept;
}

/** Nineteen of twenty times the usual value, else another one. */
const usual = <T>(value: T, others: readonly T[]): readonly T[] => [
  ...Array(others.length * 19).fill(value),
  ...others,
];
const starts = usual("", ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", "\r\n", "\n"]);
const versions = usual("HTTP/1.1", [
  "HTTP/1.0",
  "HTTP/1.2",
  "HTTP/2.0",
  "http/1.1",
  "HTTP/1.1 ",
  " HTTP/1.1",
  "HTTP/11",
]);
const statuses = usual("200", ["204", "304", "404", "500", "101", "102", "099", "99", "1000", "20x", "", "-200"]);
const reasons = usual(" OK", ["", " ", "  OK", "\tOK", " O\u00ffK", " O\u0000K", " O\rK", ": 1"]);
const lineEnds = usual("\r\n", ["\n", "\r", "\r\r\n", "\n\r", "\r\n "]);
const names = usual("X-A", ["x-b", "X A", "X-A ", " X-A", "", "X\u0000", "X\u00e9", "X(Y)", "X_Y", "\tX"]);
const values = usual("a b", [" a", "a \t", "", "\u00e9", "a\0b", "a\u0001b", "a\u007fb", "a\rb", "a: b", "\u000bx"]);
const lengths = usual("3", [
  "0",
  "5",
  "03",
  "+3",
  "-3",
  "3 ",
  "3,3",
  "0x3",
  "3.0",
  "",
  "99999999999999999999",
  "\u000b3",
]);
const codings = usual("chunked", [
  "Chunked",
  "gzip, chunked",
  "chunked, gzip",
  "identity",
  "chunked, chunked",
  "xchunked",
  "",
  "chunked\t",
]);
const connections = ["keep-alive", "close", "Keep-Alive", "close, x-a", "x-b", "upgrade", ""];
const plain = usual("abc", ["", "ab", "abcde", "abcHTTP/1.1 200 OK\r\n\r\n"]);
const sizes = usual("3", ["03", "3;x=y", "3 ", " 3", "0x3", "-3", "4", "2", "", "3;\0", "fffffffffffffffff"]);
const trailers = usual("", ["X-T: 1\r\n", "X T: 1\r\n", "X-T\r\n", "\n"]);
const framings = ["length", "length", "chunked", "chunked", "until close", "both"] as const;

/** A response, mostly valid, sometimes with one changed character. */
function generate(pick: Random["of"]): string {
  const framing = pick(framings);
  const lines = [`${pick(versions)} ${pick(statuses)}${pick(reasons)}`];
  for (let fields = pick([0, 1, 2]); fields > 0; fields--) lines.push(`${pick(names)}: ${pick(values)}`);
  if (framing === "length" || framing === "both") lines.push(`Content-Length: ${pick(lengths)}`);
  if (framing === "chunked" || framing === "both") lines.push(`Transfer-Encoding: ${pick(codings)}`);
  lines.push(...pick(usual<string[]>([], [["content-length: 3"], ["transfer-encoding: chunked"], [" folded"]])));
  if (pick([true, false])) lines.push(`Connection: ${pick(connections)}`);
  const head = [...lines, ""].map((line) => line + pick(lineEnds)).join("");
  const text = pick(starts) + head + (framing === "chunked" ? chunks(pick) : pick(plain));
  return pick([true, ...Array(7).fill(false)]) ? changed(text, pick) : text;
}

function chunks(pick: Random["of"]): string {
  const end = () => pick(lineEnds);
  return `${pick(sizes)}${end()}abc${end()}${pick(["0", "00", "0;x"])}${end()}${pick(trailers)}${end()}`;
}

function changed(text: string, pick: Random["of"]): string {
  const at = pick([...text].map((_, index) => index));
  const other = pick(["", "\r", "\n", " ", "\t", ":", "\u0000", "0", "1", "A", "\u0080", "\r\n", ","]);
  return text.slice(0, at) + other + text.slice(at + pick([0, 1]));
}

function split(text: string, pick: Random["of"]): readonly Buffer[] {
  const bytes = Buffer.from(text, "latin1");
  const at = pick([bytes.length, bytes.length, ...Array.from({ length: bytes.length }, (_, index) => index)]);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
}
