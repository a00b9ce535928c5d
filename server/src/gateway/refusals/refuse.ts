import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { limitBody } from "../../http/limit-body.ts";
import { wantsPage } from "../principal/is-navigation.ts";
import type { RefuseDeps } from "./note-refusal.ts";
import { contentSecurityPolicy, formSecurityPolicy } from "./page-style.ts";
import type { Refusal } from "./refusals.ts";
import { renderPage } from "./render-page.ts";

/** Header fields of every response of the gateway's own. */
export const ownFields = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
} as const;

/** Of a page with a form, whose Origin would be null by the policy `no-referrer`. */
export const formFields = {
  "Referrer-Policy": "same-origin",
  "Content-Security-Policy": formSecurityPolicy,
} as const;

/** HTML for a page load or a form, JSON otherwise; the connection stays reusable. */
export function refuse(deps: RefuseDeps, request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  deps.noteRefusal(request, refusal);
  limitBody(request, response);
  const isPage = wantsPage(request);
  const body = isPage ? renderPage(refusal, request.headers.host ?? "") : json(refusal);
  response.writeHead(refusal.status, {
    ...ownFields,
    "Content-Type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    Vary: "Accept, Sec-Fetch-Mode",
    ...(isPage && (refusal.form ? formFields : { "Content-Security-Policy": contentSecurityPolicy })),
    ...(isPage && refusal.refreshSeconds !== undefined && { Refresh: String(refusal.refreshSeconds) }),
    ...(refusal.retryAfterSeconds !== undefined && { "Retry-After": String(refusal.retryAfterSeconds) }),
    ...(refusal.status === 401 && { "WWW-Authenticate": 'token realm="environment"' }),
  });
  response.end(body);
}

/** Refuses a WebSocket on its raw socket. */
export function refuseUpgrade(
  deps: RefuseDeps,
  request: IncomingMessage,
  socket: Duplex,
  refusal: UpgradeRefusal,
): void {
  deps.noteRefusal(request, refusal);
  endUpgrade(socket, refusal);
}

export type UpgradeRefusal = Pick<Refusal, "status" | "code" | "title">;

export function endUpgrade(socket: Duplex, refusal: UpgradeRefusal): void {
  const fields = ["Content-Type: application/json; charset=utf-8"];
  endWith(socket, refusal.status, fields, json(refusal));
}

/** Responds to requests that the parser refused. Clears the cookies of a browser whose headers are too large. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex, appUrl: string): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  if (error.code !== "HPE_HEADER_OVERFLOW")
    return void endWith(socket, error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400, [], "");
  const page = renderPage(
    {
      title: "Your browser sent too many cookies",
      text: "They have been cleared, and the next load works again.",
      action: { label: "Go to dashboard", href: `${appUrl}/dashboard` },
    },
    "",
  );
  const fields = [
    'Clear-Site-Data: "cookies"',
    "Content-Type: text/html; charset=utf-8",
    `Content-Security-Policy: ${contentSecurityPolicy}`,
  ];
  endWith(socket, 431, fields, page);
}

function endWith(socket: Duplex, status: number, fields: readonly string[], body: string): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...fields,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "Connection: close",
    "",
    body,
  ];
  socket.end(lines.join("\r\n"), () => socket.destroy());
}

function json({ code, title }: Pick<Refusal, "code" | "title">): string {
  return JSON.stringify({ status: "error", code, message: title, detail: title });
}
