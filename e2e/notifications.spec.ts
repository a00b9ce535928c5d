import { create, must, orderAndPay } from "../testing/customer.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { advanceUntilVisible } from "./testing/toasts.ts";

test("the bell has three notifications for a new user, adds new ones live, and marks one or all as read (2, G53)", async ({
  page,
  product,
  customer: ada,
}) => {
  await page.goto("/dashboard");
  const badge = page.getByTestId("unread");
  const bell = page.getByRole("button", { name: /^Notifications/ });
  await expect(badge).toHaveText("3");
  await expect(bell).toHaveAccessibleName("Notifications, 3 unread");

  const subdomain = `told-${Date.now().toString(36)}`;
  await create(product.url, ada, await orderAndPay(product.url, ada, { subdomain, gpuCount: 1 }));
  await expect(badge, "told without a reload").toHaveText("4");

  await bell.click();
  const list = page.getByRole("dialog").getByRole("listitem");
  await expect(list).toHaveCount(4);
  await expect(list.first()).toContainText(`${subdomain} is ready`);
  await expect(list.first()).toContainText("JupyterLab answers. Its time runs from now on.");
  for (const title of ["Your account is ready", "Launch your first environment", "Your files stay"])
    await expect(list.filter({ hasText: title })).toContainText("Unread");
  await expectAccessible(page);

  await list.first().getByRole("link").click();
  await page.waitForURL(/\/environments\/[0-9a-z]{25}$/);
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(badge).toHaveText("3");
  await page.reload();
  await expect(badge, "kept by the server").toHaveText("3");

  // From here by keyboard.
  await bell.focus();
  await page.keyboard.press("Enter");
  await expect(list.first()).not.toContainText("Unread");
  const all = page.getByRole("button", { name: "Mark all as read" });
  await expect(all).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(badge).toHaveCount(0);
  await expect(bell).toHaveAccessibleName("Notifications");
  await expect(list.filter({ hasText: "Unread" })).toHaveCount(0);
  await expect(all).toHaveAttribute("aria-disabled", "true");
  await expect(all).toBeFocused();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(bell).toBeFocused();
  const { unread, notifications } = await must(product.url, "GET", "/notifications", { token: ada.idToken });
  expect([unread, notifications.length]).toEqual([0, 4]);
});

test("the bell shows an error without a reply, and a sentence for an empty list", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.route("**/notifications", (route) => route.abort());
  await page.clock.install();
  await page.goto("/dashboard");
  await page.getByRole("button", { name: /^Notifications/ }).click();
  await advanceUntilVisible(page, page.getByText("The notifications could not be read."));
  await expectAccessible(page);
  await page.unroute("**/notifications");
  await page.route("**/notifications", (route) =>
    route.fulfill({ json: { status: "success", unread: 0, notifications: [] } }),
  );
  await page.reload();
  await page.getByRole("button", { name: "Notifications" }).click();
  await expect(
    page.getByText("Nothing yet. What happens to your environments and payments is told here."),
  ).toBeVisible();
});

test("hostile and long texts are shown as text, and the badge ends at 99+", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const title = `<img src=x onerror=alert(1)> ${"W".repeat(2000)} 🚀 \u202eאבג`;
  const one = { title, body: "x".repeat(3000), link: null, created_at: "yesterday", read: false };
  const notifications = Array.from({ length: 50 }, (_, n) => ({ ...one, id: String(n) }));
  await page.route("**/notifications", (route) =>
    route.fulfill({ json: { status: "success", unread: 120, notifications } }),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/dashboard");
  await expect(page.getByTestId("unread")).toHaveText("99+");
  await page.getByRole("button", { name: "Notifications, 120 unread" }).click();
  const first = page.getByRole("dialog").getByRole("listitem").first();
  await expect(first).toContainText("<img src=x onerror=alert(1)>");
  await expect(first).toContainText("Invalid Date");
  const list = page.getByRole("dialog").getByRole("list");
  const beyond = await list.evaluate((each) => each.scrollWidth - each.clientWidth);
  expect(beyond, "words wrap inside the list").toBe(0);
});
