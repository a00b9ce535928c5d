import { cookieNames } from "./names.ts";
import { UpstreamError } from "./upstream-error.ts";

/** A response's head, already cleaned: only what may reach the browser. */
export interface ResponseHead {
  readonly status: number;
  /** Name, value, name, value. No framing headers but a content-length that holds. */
  readonly headers: string[];
  readonly framing:
    | { readonly kind: "none" | "chunked" | "until_close" }
    | { readonly kind: "length"; readonly bytes: number };
  readonly keepAlive: boolean;
}

type Kind = "pass" | "drop" | "cookie" | "length" | "coding" | "connection";

const special: Readonly<Record<string, Kind>> = {
  connection: "connection",
  "keep-alive": "drop",
  "proxy-authenticate": "drop",
  "proxy-connection": "drop",
  te: "drop",
  trailer: "drop",
  upgrade: "drop",
  "clear-site-data": "drop",
  "set-cookie": "cookie",
  "content-length": "length",
  "transfer-encoding": "coding",
};
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |$)/;
const stray = /[\r\n\0]/;
const kinds = new Map<string, Kind>();

/** Reads everything before the empty line. Throws UpstreamError for what two parsers could read differently. */
export function parseHead(text: string, { noBody }: { readonly noBody: boolean }): ResponseHead {
  const lines = text.split("\r\n");
  refuseStray(lines[0] as string);
  const start = statusLine.exec(lines[0] as string);
  if (!start) throw new UpstreamError("the status line is malformed");
  const status = Number(start[2]);
  const read = readFields(lines);
  if (read.listed) dropListed(read.headers, read.listed);
  const bodyless = noBody || status < 200 || status === 204 || status === 304;
  const { framing, length } = frame(read, bodyless);
  if (length !== undefined && status !== 204 && status >= 200) read.headers.push("Content-Length", length);
  return {
    status,
    headers: read.headers,
    framing,
    keepAlive: start[1] === "1" && !read.listed?.has("close") && framing.kind !== "until_close",
  };
}

function refuseStray(line: string): void {
  if (stray.test(line)) throw new UpstreamError("a line of the head does not end with CR LF");
}

interface Fields {
  headers: string[];
  lengths: string[];
  codings: string[];
  listed: Set<string> | undefined;
}

function readFields(lines: readonly string[]): Fields {
  const fields: Fields = { headers: [], lengths: [], codings: [], listed: undefined };
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string;
    refuseStray(line);
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    switch (kindOf(name)) {
      case "pass":
        fields.headers.push(name, value);
        break;
      case "cookie":
        if (maySet(value)) fields.headers.push(name, value);
        break;
      case "length":
        fields.lengths.push(value);
        break;
      case "coding":
        fields.codings.push(value.toLowerCase());
        break;
      case "connection":
        fields.listed ??= new Set();
        for (const option of value.toLowerCase().split(",")) fields.listed.add(option.trim());
        break;
    }
  }
  return fields;
}

/** Also refuses an empty name (a line without a colon) and a folded line, whose name begins with a space. */
function kindOf(name: string): Kind {
  const known = kinds.get(name);
  if (known) return known;
  if (!token.test(name)) throw new UpstreamError("a header's name is malformed");
  const kind = special[name.toLowerCase()] ?? "pass";
  if (kinds.size < 1000) kinds.set(name, kind);
  return kind;
}

/** A cookie for every sibling, one with our name, or one without a name (which is sent back as a bare pair) stays here. */
function maySet(cookie: string): boolean {
  const equals = cookie.indexOf("=");
  const end = cookie.indexOf(";");
  if (equals <= 0 || (end !== -1 && end < equals)) return false;
  const name = cookie.slice(0, equals).trim().toLowerCase();
  return name !== "" && !cookieNames.has(name) && !/;\s*domain\s*=/i.test(cookie);
}

function dropListed(headers: string[], listed: ReadonlySet<string>): void {
  if (listed.size === 1 && (listed.has("close") || listed.has("keep-alive"))) return;
  for (let i = headers.length - 2; i >= 0; i -= 2)
    if (listed.has((headers[i] as string).toLowerCase())) headers.splice(i, 2);
}

function frame(
  { lengths, codings }: Fields,
  bodyless: boolean,
): { framing: ResponseHead["framing"]; length?: string | undefined } {
  const length = lengths[0];
  if (length !== undefined && (!/^[0-9]{1,15}$/.test(length) || lengths.some((other) => other !== length)))
    throw new UpstreamError("the content length is not one number");
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== "chunked" || length !== undefined)
      throw new UpstreamError("the body's framing is ambiguous");
    return { framing: { kind: bodyless ? "none" : "chunked" } };
  }
  if (bodyless) return { framing: { kind: "none" }, length };
  if (length === undefined) return { framing: { kind: "until_close" } };
  return { framing: { kind: "length", bytes: Number(length) }, length };
}
