import { everyState, showContainers } from "../testing/containers.ts";
import { mockCalls, networkError, type Reply, refused } from "../testing/mock-calls.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible, expectToast, freeze, toastOf } from "../testing/toasts.ts";

const errorMs = 7_000;

test("a profile that cannot be fetched shows the dashboard's text and the list's", async ({ page, customer }) => {
  await page.goto("/dashboard");
  await mockCalls(page, `**/profile/${customer.userId}`, refused(503, "Out for a moment", "unavailable"));
  await page.clock.install();
  await page.reload();
  await advanceUntilVisible(page, page.getByText("Error fetching user data, please refresh"));
  await page.getByRole("link", { name: "Environments" }).first().click();
  await advanceUntilVisible(page, page.getByText("Server failure, please go to Dashboard and refresh"));
  await page.unroute(`**/profile/${customer.userId}`);
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
});

test("settings: updated, refused, no reply, unreadable (G80)", async ({ page, customer }) => {
  await page.clock.install();
  await page.goto("/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await freeze(page);
  const save = page.getByRole("button", { name: "Save Changes" });
  await save.click();
  await expectToast(page, "Settings updated successfully", "", 5_000);
  await mockCalls(page, "**/settings/*/profile", refused(503, "Out", "unavailable"));
  await save.click();
  await expectToast(page, "Failed to update user settings", "", errorMs);
  await mockCalls(page, "**/settings/*/profile", networkError);
  await save.click();
  await expectToast(page, "Error updating password...", "", errorMs);
  await mockCalls(page, "**/settings/*", refused(503, "Out", "unavailable"));
  await page.clock.resume();
  await page.reload();
  await expect(page.getByText("Error fetching user settings... Please refresh")).toBeVisible();
  await page.unroute("**/settings/*");
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
});

test("container actions: each success, each failure, and Retry", async ({ page, customer }) => {
  await showContainers(page, everyState);
  const asked: string[] = [];
  const path = "**/docker/*_container/**";
  const accepted: Reply = (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill({ json: { status: "success" } });
  };
  await mockCalls(page, path, accepted);
  await page.clock.install();
  await page.goto("/environments");
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await freeze(page);
  const button = (name: string, label: string) =>
    page.getByRole("row", { name: new RegExp(name) }).getByRole("button", { name: label });
  for (const [name, label, text] of [
    ["resnet-lab", "Pause", "Environment resnet-lab paused"],
    ["thesis", "Stop", "Environment thesis stopped and cleaned up"],
    ["kaggle-night", "Restart", "Environment kaggle-night restarted"],
  ] as const) {
    await button(name, label).click();
    await expectToast(page, text, "", 5_000);
  }
  expect(asked).toEqual([
    `/docker/pause_container/1a3f9c27b0d4e5a6/${customer.userId}`,
    `/docker/stop_container/2b3f9c27b0d4e5a6/${customer.userId}`,
    `/docker/restart_container/4d3f9c27b0d4e5a6/${customer.userId}`,
  ]);

  const longest = "a-name-of-forty-characters-is-the-longest";
  await mockCalls(page, path, refused(500, ""));
  await button(longest, "Stop").click();
  await expectToast(page, "Failed to stop container - Unknown error", "", errorMs);
  await mockCalls(page, path, refused(409, "No GPU is free", "out_of_stock"));
  // The list that is read after a failure does not come: Retry works at once.
  await page.route("**/profile/*", () => {});
  await button(longest, "Restart").click();
  const failure = toastOf(page, "Failed to restart environment: No GPU is free");
  await advanceUntilVisible(page, failure);
  asked.length = 0;
  await mockCalls(page, path, accepted);
  await failure.getByRole("button", { name: "Retry" }).click();
  // A toast stays while the pointer is over it.
  await page.mouse.move(20, 600);
  await expectToast(page, `Environment ${longest} restarted`, "", 5_000);
  // By Retry: its own seven seconds are not over.
  await expect(failure).toBeHidden();
  expect(asked).toEqual([`/docker/restart_container/3c3f9c27b0d4e5a6/${customer.userId}`]);
});

test("billing: loaded, refused with its status, no reply, and Try Again", async ({ page, customer }) => {
  await page.clock.install();
  const path = `**/billing/${customer.userId}`;
  await mockCalls(page, path, refused(503, "Out", "unavailable"));
  await page.goto("/dashboard");
  await expect(page.getByText("Active Environments")).toBeVisible();
  await freeze(page);
  const billing = page.getByRole("link", { name: "Billing" });
  const elsewhere = page.getByRole("link", { name: "Support" });
  await billing.click();
  await expect(page.getByRole("status", { name: "Loading billing data..." })).toBeVisible();
  await advanceUntilVisible(page, page.getByText("API error: 503"));
  await expect(page.getByText("Unable to load billing data")).toBeVisible();
  await expectToast(page, "Error fetching billing data", "Error", errorMs);
  await elsewhere.click();
  await advanceUntilVisible(page, page.getByText("Get Direct Support"));
  await mockCalls(page, path, networkError);
  await billing.click();
  await advanceUntilVisible(page, page.getByText("Failed to fetch billing data"));
  await page.unroute(path);
  await page.clock.resume();
  await page.evaluate(() => Object.assign(window, { before: true }));
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  expect(await page.evaluate(() => "before" in window), "Try Again reloads the page").toBe(false);
  await page.getByRole("link", { name: "Support" }).click();
  await expect(page.getByText("Get Direct Support")).toBeVisible();
  await freeze(page);
  // The reload has already shown this toast once.
  await page.clock.runFor(6_000);
  await expect(toastOf(page, "Billing data loaded successfully")).toBeHidden();
  await page.getByRole("link", { name: "Billing" }).click();
  await expectToast(page, "Billing data loaded successfully", "", 5_000);
});

test("create: a refused order is a notice for 6 s; no reply and a failed launch are errors", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await page.goto("/environments/create");
  await expect(page.getByRole("radio", { name: "JupyterLab" })).toBeEnabled();
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Subdomain").fill(`notice-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Continue" }).click();
  const launch = page.getByRole("button", { name: "Launch" });
  await expect(launch).toBeEnabled();
  await freeze(page);
  const order = "**/docker/payments/create_order";
  await mockCalls(page, order, refused(409, "No GPU is free until 4:40 PM", "out_of_stock"));
  await launch.click();
  await expectToast(page, "No GPU is free until 4:40 PM", "SYSTEM NOTIFICATION", 6_000);
  await mockCalls(page, order, networkError);
  await launch.click();
  await expectToast(page, "Network error. Please check your connection and try again.", "", errorMs);
  await page.unroute(order);

  await mockCalls(page, "**/docker/environment/create", refused(409, "", "not_delivered"));
  await launch.click();
  const dialog = page.frameLocator("iframe");
  await advanceUntilVisible(page, page.locator("iframe"));
  await page.clock.resume();
  await dialog.getByLabel("Card number").fill("5555 5555 5555 4444");
  await dialog.getByLabel("Expiry").fill("12/34");
  await dialog.getByLabel("CVV").fill("123");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(toastOf(page, "HTTP 409")).toHaveText(/^Failed to create environmentHTTP 409/);
});

test("support: the server's text, our own without a reply, and a blocked chat tab", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.addInitScript(() => {
    window.open = () => null;
  });
  await page.clock.install();
  await page.goto("/support?issue=payment_issues&session=abc123");
  const submit = page.getByRole("button", { name: /^Open Telegram Chat with/ });
  await expect(submit).toBeEnabled();
  await freeze(page);
  await mockCalls(page, "**/support/tickets", refused(429, "Slow down", "rate_limited"));
  await submit.click();
  await expectToast(page, "Slow down", "", errorMs);
  await mockCalls(page, "**/support/tickets", networkError);
  await submit.click();
  await expectToast(page, "An unexpected error occurred. Please try again.", "", errorMs);
  await page.getByRole("button", { name: "Account Access" }).click();
  await expectToast(page, "Failed to create Telegram message. Please try again.", "", errorMs);
});

test("unreadable dates: Invalid Date, Expired and Unknown", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const [active, ending] = Object.values(everyState);
  await showContainers(page, {
    a: { ...active, subdomain: "no-date", created_at: "soon", expires_at: "later" },
    b: { ...ending, subdomain: "long-over", expires_at: "2026-01-01T00:00:00.000Z" },
  });
  await page.goto("/environments");
  const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
  await expect(row("no-date")).toContainText("Invalid Date");
  await expect(row("no-date")).toContainText("Unknown");
  await expect(row("long-over")).toContainText("Expired");
});
