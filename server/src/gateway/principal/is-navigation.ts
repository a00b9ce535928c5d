import type { IncomingMessage } from "node:http";

/** A person opens a page, as opposed to a request that a page or a script makes by itself. */
export function isNavigation(request: IncomingMessage): boolean {
  const mode = request.headers["sec-fetch-mode"];
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead && (mode === undefined || mode === "navigate") && (request.headers.accept ?? "").includes("text/html");
}
