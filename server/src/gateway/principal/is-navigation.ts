import type { IncomingMessage } from "node:http";

/** A top-level page load by a person, as opposed to a request of a page or script. */
export function isNavigation(request: IncomingMessage): boolean {
  return (request.method === "GET" || request.method === "HEAD") && wantsPage(request);
}

/** The same for a form too, whose answer is shown as a page. */
export function wantsPage({ headers }: IncomingMessage): boolean {
  const mode = headers["sec-fetch-mode"];
  return (mode === undefined || mode === "navigate") && (headers.accept ?? "").includes("text/html");
}
