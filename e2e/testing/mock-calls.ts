import type { Page, Route } from "@playwright/test";

export type Reply = (route: Route) => Promise<void>;

/** Replies to calls of `path` with `reply` from now on, instead of an earlier one; documents are not mocked. */
export async function mockCalls(page: Page, path: string, reply: Reply): Promise<void> {
  await page.unroute(path);
  await page.route(path, (route) => (route.request().resourceType() === "document" ? route.continue() : reply(route)));
}

export const unavailable = { status: "error", code: "unavailable", message: "Out for a moment", detail: "" };
export const unavailableReply = { status: 503, json: unavailable };

export const jsonReply =
  (json: object, status = 200): Reply =>
  (route) =>
    route.fulfill({ status, json });

export const refused = (status: number, message: string, code = "internal"): Reply =>
  jsonReply({ status: "error", code, message, detail: message }, status);

export const networkError: Reply = (route) => route.abort();

/** Holds calls of `path` until the returned function is called; then they fail with a network error. */
export async function holdCalls(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await mockCalls(page, path, async (route) => {
    await promise;
    await route.abort();
  });
  return resolve;
}

/** Fails calls of `path` with 503, and installs the page's clock, so that a test can skip the app's retries. */
export async function failCalls(page: Page, path: string): Promise<void> {
  await page.clock.install();
  await mockCalls(page, path, (route) => route.fulfill(unavailableReply));
}
