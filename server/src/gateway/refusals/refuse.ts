import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { limitBody } from "../../http/limit-body.ts";
import { isNavigation } from "../principal/principal.ts";
import { sharePath } from "../principal/reserved-names.ts";
import { contentSecurityPolicy, formSecurityPolicy } from "./page-style.ts";
import { type Refusal, renderPage, shareConfirmation } from "./refusals.ts";

const always = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

/** A page for a person, JSON for a program; the connection stays usable. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  limitBody(request, response);
  const page = isNavigation(request);
  const body = page ? renderPage(refusal, request.headers.host ?? "") : bodyOf(refusal);
  response.writeHead(refusal.status, {
    ...always,
    "Content-Type": page ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    Vary: "Accept, Sec-Fetch-Mode",
    ...(page && { "Content-Security-Policy": contentSecurityPolicy }),
    ...(page && refusal.refreshSeconds !== undefined && { Refresh: String(refusal.refreshSeconds) }),
    ...(refusal.retryAfterSeconds !== undefined && { "Retry-After": String(refusal.retryAfterSeconds) }),
    ...(refusal.status === 401 && { "WWW-Authenticate": 'token realm="environment"' }),
  });
  response.end(body);
}

/**
 * Whoever followed a share link agrees before they are let in. `same-origin`, because under `no-referrer` the form's own
 * Origin would be null. What the browser holds of the name's former environment goes before.
 */
export function confirmShare(
  request: IncomingMessage,
  response: ServerResponse,
  share: { readonly owner: string; readonly key: string },
): void {
  const body = renderPage(shareConfirmation(share.owner), request.headers.host ?? "", {
    path: sharePath,
    key: share.key,
  });
  response.writeHead(200, {
    ...always,
    "Referrer-Policy": "same-origin",
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Content-Security-Policy": formSecurityPolicy,
    "Clear-Site-Data": '"storage"',
  });
  response.end(body);
}

export function redirect(
  response: ServerResponse,
  location: string,
  headers: Readonly<Record<string, string>> = {},
  status: 302 | 303 = 302,
): void {
  limitBody(response.req, response);
  response.writeHead(status, { ...always, ...headers, Location: location, "Content-Length": 0 }).end();
}

/** Before a WebSocket is open there is only its socket. */
export function refuseUpgrade(socket: Duplex, refusal: Pick<Refusal, "status" | "code" | "title">): void {
  const body = bodyOf(refusal);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

/** What the parser itself refused; a browser that sends too many cookies is healed by the answer. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex, appUrl: string): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const status = tooLarge ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const body = tooLarge ? renderPage(tooManyCookies(appUrl), "") : "";
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...(tooLarge
        ? [
            'Clear-Site-Data: "cookies"',
            "Content-Type: text/html; charset=utf-8",
            `Content-Security-Policy: ${contentSecurityPolicy}`,
          ]
        : []),
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
    () => socket.destroy(),
  );
}

function tooManyCookies(appUrl: string): Refusal {
  return {
    status: 431,
    code: "headers_too_large",
    title: "Your browser sent too many cookies",
    text: "They have been cleared, and the next load works again.",
    action: { label: "Go to dashboard", href: `${appUrl}/dashboard` },
  };
}

function bodyOf({ code, title }: Pick<Refusal, "code" | "title">): string {
  return JSON.stringify({ status: "error", code, message: title, detail: title });
}
