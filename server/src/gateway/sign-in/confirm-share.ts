import type { IncomingMessage, ServerResponse } from "node:http";
import { sharePath } from "../principal/reserved-names.ts";
import { formFields, ownFields } from "../refusals/refuse.ts";
import { renderPage } from "../refusals/render-page.ts";

/**
 * The confirmation page of a share link. Clears the storage that a former environment of this subdomain left in the browser.
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
    form: { path: sharePath, name: "key", value: key },
  };
  const body = renderPage(page, request.headers.host ?? "");
  response.writeHead(200, {
    ...ownFields,
    ...formFields,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Clear-Site-Data": '"storage"',
  });
  response.end(body);
}
