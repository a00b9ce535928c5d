import { createFieldKinds } from "./field-kinds.ts";
import { UpstreamError } from "./upstream-error.ts";

/** A response's head without hop-by-hop fields. */
export interface ResponseHead {
  readonly status: number;
  /** Name, value, name, value. No framing fields but a validated Content-Length. */
  readonly headers: string[];
  readonly framing:
    | { readonly kind: "none" | "chunked" | "until_close" }
    | { readonly kind: "length"; readonly bytes: number };
  readonly keepAlive: boolean;
}

type Kind = "pass" | "drop" | "length" | "coding" | "connection";

const kindOf = createFieldKinds<Kind>(
  {
    connection: "connection",
    "keep-alive": "drop",
    "proxy-authenticate": "drop",
    "proxy-connection": "drop",
    te: "drop",
    trailer: "drop",
    upgrade: "drop",
    "content-length": "length",
    "transfer-encoding": "coding",
  },
  "pass",
);
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** All but tab, CR and LF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches them.
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;
const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |\r|$)/;
const onlyChunked = /^ *chunked *$/i;
const digits = /^[0-9]{1,15}$/;
const none = { kind: "none" } as const;
const chunked = { kind: "chunked" } as const;
const untilClose = { kind: "until_close" } as const;

/**
 * Parses everything before the empty line; `isHead`: the request was a HEAD. Throws UpstreamError for anything ambiguous
 * (response smuggling).
 */
export function parseResponseHead(text: string, isHead: boolean): ResponseHead {
  const start = statusLine.exec(text);
  if (!start) throw new UpstreamError("the status line is malformed");
  const status = Number(start[2]);
  const { headers, length, coding, listed } = readFields(text);
  if (listed) dropListed(headers, listed);
  const bodyless = isHead || status < 200 || status === 204 || status === 304;
  const framing = frame(length, coding, bodyless);
  if (length !== undefined && status !== 204 && status >= 200) headers.push("Content-Length", length);
  return {
    status,
    headers,
    framing,
    keepAlive: start[1] === "1" && !listed?.has("close") && framing.kind !== "until_close",
  };
}

interface Fields {
  headers: string[];
  length: string | undefined;
  coding: string | undefined;
  listed: Set<string> | undefined;
}

/** Without `split`, for speed: parsing the head is half of the work for a small response. */
function readFields(text: string): Fields {
  if (control.test(text)) throw new UpstreamError("the head has a control character");
  const fields: Fields = { headers: [], length: undefined, coding: undefined, listed: undefined };
  for (let at = lineEnd(text, 0) + 2; at < text.length; ) {
    const end = lineEnd(text, at);
    const colon = text.indexOf(":", at);
    const name = text.slice(at, Math.max(at, colon));
    // This refuses an empty name, a line without a colon, and a folded line (obs-fold) too.
    if (!token.test(name)) throw new UpstreamError("a header's name is malformed");
    addField(fields, name, text, colon + 1, end);
    at = end + 2;
  }
  return fields;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\r", at);
  const feed = text.indexOf("\n", at);
  if (end === -1 && feed === -1) return text.length;
  if (end === -1 || feed !== end + 1) throw new UpstreamError("a line of the head does not end with CR LF");
  return end;
}

function trimmed(text: string, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function addField(fields: Fields, name: string, text: string, start: number, end: number): void {
  const value = trimmed(text, start, end);
  switch (kindOf(name)) {
    case "pass":
      fields.headers.push(name, value);
      break;
    case "length":
      if (!digits.test(value) || fields.length !== undefined)
        throw new UpstreamError("the content length is not one number");
      fields.length = value;
      break;
    case "coding":
      // The untrimmed value: llhttp does not accept a tab after "chunked".
      if (fields.coding !== undefined || !onlyChunked.test(text.slice(start, end)))
        throw new UpstreamError("the body's framing is ambiguous");
      fields.coding = value;
      break;
    case "connection":
      if (value === "keep-alive") break;
      fields.listed ??= new Set();
      for (const option of value.toLowerCase().split(",")) fields.listed.add(option.trim());
      break;
  }
}

function dropListed(headers: string[], listed: ReadonlySet<string>): void {
  if (listed.size === 1 && listed.has("close")) return;
  for (let i = headers.length - 2; i >= 0; i -= 2)
    if (listed.has((headers[i] as string).toLowerCase())) headers.splice(i, 2);
}

function frame(length: string | undefined, coding: string | undefined, bodyless: boolean): ResponseHead["framing"] {
  if (coding !== undefined && length !== undefined) throw new UpstreamError("the body's framing is ambiguous");
  if (bodyless) return none;
  if (coding !== undefined) return chunked;
  return length === undefined ? untilClose : { kind: "length", bytes: Number(length) };
}
