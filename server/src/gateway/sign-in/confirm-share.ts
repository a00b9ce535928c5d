import type { IncomingMessage, ServerResponse } from "node:http";
import { sharePath } from "../principal/reserved-names.ts";
import { formSecurityPolicy } from "../refusals/page-style.ts";
import { ownFields } from "../refusals/refuse.ts";
import { renderPage } from "../refusals/render-page.ts";

/**
 * The confirmation page of a share link. Referrer policy `same-origin`, because `no-referrer` would make the form's Origin
 * null. Clears the storage that a former environment of this subdomain left in the browser.
 */
export function confirmShare(
  request: IncomingMessage,
  response: ServerResponse,
  { owner, key }: { readonly owner: string; readonly key: string },
): void {
  const page = {
    title: `${owner} shares this environment with you`,
    text: "You can run code in it, and read and change its files, until the link ends. Its owner sees that somebody came in.",
    action: { label: "Open JupyterLab", href: "" },
  };
  const body = renderPage(page, request.headers.host ?? "", { path: sharePath, key });
  response.writeHead(200, {
    ...ownFields,
    "Referrer-Policy": "same-origin",
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Content-Security-Policy": formSecurityPolicy,
    "Clear-Site-Data": '"storage"',
  });
  response.end(body);
}
