import { alterReply } from "./testing/containers.ts";
import { expect, test } from "./testing/test.ts";

test("going offline keeps the session, shows a notice, and recovers by itself (G45)", async ({
  page,
  context,
  customer: _,
}) => {
  const settings = page.waitForEvent("requestfinished", (request) => /settings-page-[\w-]+\.js/.test(request.url()));
  await page.goto("/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  await settings;
  await context.setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await expect(page).toHaveURL(/\/settings$/);
  await page.getByRole("button", { name: "Hide" }).click();
  await expect(page.getByText("You are offline")).toBeHidden();
  expect(await page.evaluate(() => localStorage.getItem("idToken"))).not.toBeNull();
  await context.setOffline(false);
  await context.setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await page.getByRole("button", { name: "Hide" }).click();
  await expect(page.getByText("You are offline")).toBeHidden();
  // A reconnection that is over before the page is rendered.
  await page.evaluate(() => ["online", "offline"].map((name) => window.dispatchEvent(new Event(name))));
  await expect(page.getByText("You are offline")).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText("You are offline")).toBeHidden();
});

test("a screen opens offline once its part was loaded in idle time; one that was not comes when the connection is back (G342)", async ({
  page,
  context,
  customer: _,
}) => {
  await page.route("**/assets/support-page*.js", (route) => route.abort("internetdisconnected"));
  const settings = page.waitForEvent("requestfinished", (request) => /settings-page-[\w-]+\.js/.test(request.url()));
  await page.goto("/dashboard");
  await settings;
  await context.setOffline(true);
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await expect(page.getByRole("tab", { name: "Profile" })).toBeVisible();
  await page.getByRole("link", { name: "Support", exact: true }).click();
  await expect(page.getByText("Loading this page needs the connection")).toBeVisible();
  await page.unroute("**/assets/support-page*.js");
  // The first sign of the connection comes too early.
  await page.route("**/support", (route) => route.abort(), { times: 1 });
  await context.setOffline(false);
  await expect(page.getByText("Quick Answers")).toBeVisible();
});

test("a page that is open during an upgrade offers a reload and never forces it", async ({ page, customer: _ }) => {
  await page.goto("/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  await alterReply(page, "**/config", (answer) => ({ ...answer, version: "99.0.0" }));
  await page.evaluate(() => Object.assign(window, { before: true }));
  await page.context().setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await page.context().setOffline(false);
  await expect(page.getByText("A new version is ready")).toBeVisible();
  expect(await page.evaluate(() => "before" in window)).toBe(true);
  await page.unroute("**/config");
  await page.getByRole("button", { name: "Reload", exact: true }).click();
  await expect.poll(() => page.evaluate(() => "before" in window)).toBe(false);
  await expect(page.getByText("A new version is ready")).toBeHidden();
});

test("a screen whose chunk was dropped twice is loaded by itself a moment later", async ({ page, customer: _ }) => {
  await page.goto("/dashboard");
  let loads = 0;
  page.on("request", (request) => void (request.isNavigationRequest() && loads++));
  await page.route("**/assets/billing-page*.js", (route) =>
    loads < 2 ? route.abort("internetdisconnected") : route.fallback(),
  );
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(page.getByRole("tab", { name: "Overview" })).toBeVisible();
});

test("a page whose entry script was dropped is loaded again by itself, and at the fourth time says what to do", async ({
  page,
  customer: _,
}) => {
  const entry = /\/assets\/index-[^/]*\.js$/;
  // One route throughout: one that is taken away while the page reloads itself may leave a request waiting.
  let drops = 1;
  await page.route(entry, (route) => (drops-- > 0 ? route.abort("internetdisconnected") : route.fallback()));
  // The document that reloads itself may have no load event.
  await page.goto("/dashboard", { waitUntil: "commit" });
  await expect(page.getByRole("heading", { name: /^Welcome/ })).toBeVisible();
  drops = Number.POSITIVE_INFINITY;
  await page.reload();
  await expect(page.getByRole("alert")).toHaveText(
    "This page could not be loaded. Check your connection, then try again.",
  );
  drops = 0;
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByRole("heading", { name: /^Welcome/ })).toBeVisible();
});
