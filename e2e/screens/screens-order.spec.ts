import type { Order } from "../../contract/src/index.ts";
import { failCalls, holdCalls } from "../testing/mock-calls.ts";
import { ordersByMoney, showOrder } from "../testing/orders.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible } from "../testing/toasts.ts";
import { checkScreen } from "../testing/viewports.ts";

test("an order's page is accessible at both widths and in both schemes, for every state of its money", async ({
  page,
  customer,
}) => {
  test.setTimeout(180_000);
  // One for each colour of the money, and the longest.
  for (const name of ["delivered", "started", "disputed", "refunded", "many"]) {
    const order = ordersByMoney[name] as Order;
    await showOrder(page, order);
    await page.goto(`/billing/orders/${order.id}`);
    await expect(page.getByRole("heading", { name: "References" })).toBeVisible();
    if (name === "many") await page.getByText("19 earlier payments failed").click();
    await checkScreen(page, `order-${name}`);
  }
  await page.unroute("**/orders/*");
  await page.goto("/billing/orders/0000000000000000000000000");
  await expect(page.getByText("There is no such order")).toBeVisible();
  await checkScreen(page, "order-unknown");
  await failCalls(page, "**/orders/*");
  await page.reload();
  await advanceUntilVisible(page, page.getByText("Unable to load this order"));
  await checkScreen(page, "order-failed");
  await page.unroute("**/orders/*");
  const release = await holdCalls(page, "**/orders/*");
  await page.reload();
  await expect(page.getByRole("status", { name: "Loading your order..." })).toBeVisible();
  await checkScreen(page, "order-loading");
  release();

  await page.route("**/notifications", (route) =>
    route.fulfill({ json: { status: "success", unread: 0, notifications: [] } }),
  );
  await page.goto("/dashboard");
  await page.getByRole("button", { name: "Notifications" }).click();
  await expect(page.getByText("Nothing yet.")).toBeVisible();
  await checkScreen(page, "notifications-empty", { fullPage: false });
  expect(customer.userId).not.toBe("");
});

test("loading screens, server failures and unreachable environments are accessible at both widths and in both schemes", async ({
  page,
  customer,
}) => {
  const release = await holdCalls(page, "**/auth/validate");
  await page.goto("/dashboard");
  await expect(page.getByText("Loading your dashboard...").first()).toBeVisible();
  await checkScreen(page, "loading");
  release();
  await expect(page.getByText("Server failure, please go to Dashboard and refresh")).toBeVisible();
  await checkScreen(page, "server-failure");
  await page.unroute("**/auth/validate");
  await failCalls(page, "**/environments/*/sign-in-code");
  await page.goto("/open?environment=somewhere");
  await expect(page.getByText("The environment could not be opened")).toBeVisible();
  await checkScreen(page, "open-failed");
  await page.route("**/assets/billing-page*.js", (route) => route.abort());
  await page.goto("/dashboard");
  // As after three reloads.
  await page.evaluate(() => sessionStorage.setItem("chunk_reloads", JSON.stringify(Array(3).fill(Date.now()))));
  await page.getByRole("link", { name: "Billing" }).click();
  await expect(page.getByText("Loading this page needs the connection")).toBeVisible();
  await checkScreen(page, "chunk-failed");
  // As after 30 seconds: once the part can be loaded, so is the page (G342).
  await page.evaluate(() => sessionStorage.removeItem("chunk_reloads"));
  await page.unroute("**/assets/billing-page*.js");
  await expect(page.getByText("No usage data available yet")).toBeVisible();
  expect(customer.userId).not.toBe("");
});
