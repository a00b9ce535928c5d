import type { IncomingMessage } from "node:http";

/** A top-level page load by a person, as opposed to a request of a page or script. */
export function isNavigation(request: IncomingMessage): boolean {
  const mode = request.headers["sec-fetch-mode"];
  const isRead = request.method === "GET" || request.method === "HEAD";
  return isRead && (mode === undefined || mode === "navigate") && (request.headers.accept ?? "").includes("text/html");
}
