import type { IncomingMessage } from "node:http";
import type { EnvironmentRoute } from "../../environments/api/list-routes.ts";
import { createFieldKinds } from "../http-client/field-kinds.ts";
import { withoutToken } from "../principal/address-token.ts";
import { cookieHeader } from "../principal/cookie-header.ts";
import type { HostNames } from "../target/host-names.ts";

export interface HeadDeps {
  readonly addressOf: (request: IncomingMessage) => string;
  readonly hosts: Pick<HostNames, "secure">;
}

export interface RequestHead {
  readonly text: string;
  readonly body: "none" | "length" | "chunked";
}

type Kind = "pass" | "drop" | "host" | "cookie";

const specialKind = createFieldKinds<Kind>(
  {
    host: "host",
    cookie: "cookie",
    "content-length": "drop",
    "transfer-encoding": "drop",
    connection: "drop",
    "keep-alive": "drop",
    "proxy-authorization": "drop",
    "proxy-connection": "drop",
    te: "drop",
    trailer: "drop",
    upgrade: "drop",
    expect: "drop",
    authorization: "drop",
    forwarded: "drop",
    "x-real-ip": "drop",
    "http2-settings": "drop",
  },
  "pass",
);
/** Underscores too: a CGI or WSGI server cannot tell them from hyphens. */
const forwarded = /^x[-_](?:forwarded(?:[-_].*)?|real[-_]ip)$/i;

function kindOf(name: string): Kind {
  // The first letter ("x") is checked first, because the regular expression is slow.
  return (name.charCodeAt(0) | 32) === 120 && forwarded.test(name) ? "drop" : specialKind(name);
}

/**
 * Serializes the request again from its parsed parts, against request smuggling. Undefined for what two parsers could
 * read differently: a second Host, the absolute form, ambiguous framing. JupyterLab's own token is added here and nowhere
 * else, and our X-Forwarded fields replace the client's. A program at a port gets no token at all.
 */
export function requestHead(
  { addressOf, hosts }: HeadDeps,
  request: IncomingMessage,
  { runToken, secret }: EnvironmentRoute,
  { isUpgrade, port }: { readonly isUpgrade: boolean; readonly port: number | undefined },
): RequestHead | undefined {
  const url = request.url as string;
  const framing = framingOf(request);
  if (url[0] !== "/" || request.httpVersionMajor !== 1 || !framing || (isUpgrade && framing.body !== "none"))
    return undefined;
  const fields = fieldsOf(request);
  if (fields === undefined) return undefined;
  const token = port === undefined ? `Authorization: token ${runToken}\r\n` : "";
  const own = `${token}X-Forwarded-For: ${addressOf(request)}\r\nX-Forwarded-Proto: ${hosts.secure ? "https" : "http"}\r\nX-Forwarded-Host: ${request.headers.host}\r\n`;
  const connection = isUpgrade ? "Connection: Upgrade\r\nUpgrade: websocket\r\n" : "Connection: keep-alive\r\n";
  return {
    text: `${request.method} ${withoutToken(url, port === undefined ? undefined : secret)} HTTP/1.1\r\n${fields}${own}${framing.field}${connection}\r\n`,
    body: framing.body,
  };
}

/** Node joins several Transfer-Encoding fields by commas; its parser refuses two lengths, and a length beside a coding. */
function framingOf({
  headers,
}: IncomingMessage): { readonly body: RequestHead["body"]; readonly field: string } | undefined {
  const length = headers["content-length"];
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (length !== undefined || coding.toLowerCase() !== "chunked") return undefined;
    return { body: "chunked", field: "Transfer-Encoding: chunked\r\n" };
  }
  if (length === undefined) return { body: "none", field: "" };
  return { body: "length", field: `Content-Length: ${length}\r\n` };
}

/** Undefined unless there is exactly one Host. */
function fieldsOf(request: IncomingMessage): string | undefined {
  const listed = listedOf(request.headers.connection);
  const raw = request.rawHeaders;
  let fields = "";
  let hosts = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const kind = kindOf(name);
    if (kind === "drop") continue;
    const value = kind === "cookie" ? cookieHeader(raw[i + 1] as string).others : (raw[i + 1] as string);
    if (kind === "host") hosts += 1;
    else if (listed?.has(name.toLowerCase()) || (kind === "cookie" && value === "")) continue;
    fields += `${name}: ${value}\r\n`;
  }
  return hosts === 1 ? fields : undefined;
}

function listedOf(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === "keep-alive" || connection === "close" || connection === "Upgrade")
    return undefined;
  return new Set(
    connection
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
}
