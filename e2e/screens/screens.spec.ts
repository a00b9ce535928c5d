import { everyState, inHours, showContainers } from "../testing/containers.ts";
import { failCalls, holdCalls, unavailableReply } from "../testing/mock-calls.ts";
import { fullStatement } from "../testing/statement.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible, toastOf } from "../testing/toasts.ts";
import { checkScreen } from "../testing/viewports.ts";

const keptFiles = {
  environment_id: "7a3f9c27b0d4e5a6",
  former_id: null,
  subdomain: "old-one",
  container_type: "pytorch",
  gpu_count: 2,
  duration_hours: 6,
  size_mb: 4_210,
  files_until: inHours(24 * 29),
  banked_seconds: 0,
};
/** What a fresh start left behind, while its machine gives no sign (G203). */
const formerFiles = {
  ...keptFiles,
  former_id: "9c27b0d4e5a67a3f",
  subdomain: "resnet-lab",
  files_until: null,
  size_mb: null,
};

test("the list is accessible at both widths and in both schemes: every status, menu, dialog and failure", async ({
  page,
  customer,
}) => {
  test.setTimeout(180_000);
  await page.goto("/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Search environments" })).toBeVisible();
  await checkScreen(page, "environments-empty");
  await showContainers(page, everyState);
  await page.route("**/environments/*", async (route) => {
    if (route.request().resourceType() === "document") return route.continue();
    const idle_stop = { minutes: null, stops_at: null, snoozed_until: null, last_busy_at: null };
    const done_notice = { mode: null, has_run: false };
    const secret = { jupyter_token: "k7dq-mx3a-9wzp-t2vn", session_id: "s4kq0t9w2mzp7x", idle_stop, done_notice };
    return route.fulfill({
      json: { status: "success", environment: { ...everyState["1a3f9c27b0d4e5a6"], ...secret } },
    });
  });
  await page.route("**/files", (route) =>
    route.fulfill({ json: { status: "success", files: [keptFiles, formerFiles], names: [] } }),
  );
  const arrival = { jupyter_token: "k7dq-mx3a-9wzp-t2vn", environment_id: "1a3f9c27b0d4e5a6" };
  await page.evaluate((usr) => history.replaceState({ ...history.state, usr }, ""), arrival);
  await page.reload();
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await expect(page.getByText("Your environment is ready.")).toBeVisible();
  await checkScreen(page, "environments");
  await page.setViewportSize({ width: 360, height: 780 });
  await expect(page.locator("tr", { hasText: "resnet-lab" }).getByText("Created")).toBeVisible();
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole("region", { name: "New environment" }).getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Delete now the files of old-one" }).click();
  await checkScreen(page, "environments-delete-files", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Jupyter password" }).click();
  await expect(page.getByText("k7dq-mx3a-9wzp-t2vn").first()).toBeVisible();
  await checkScreen(page, "environments-password", { fullPage: false, stays: "text=k7dq-mx3a-9wzp-t2vn" });
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Sort" }).click();
  await expect(page.getByRole("option", { name: "Expires Soon" })).toBeVisible();
  await checkScreen(page, "environments-sort", { fullPage: false });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More actions for resnet-lab" }).click();
  await checkScreen(page, "environments-menu", { fullPage: false, stays: "[role=menuitem]" });
  await page.getByRole("menuitem", { name: "Terminate" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("resnet");
  await checkScreen(page, "environments-terminate", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More actions for resnet-lab" }).click();
  await page.getByRole("menuitem", { name: "Add time" }).click();
  await expect(page.getByRole("button", { name: /^Pay/ })).toBeEnabled();
  await checkScreen(page, "environments-extend", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.route("**/docker/pause_container/**", (route) => route.fulfill(unavailableReply));
  await page
    .getByRole("row", { name: /resnet-lab/ })
    .getByRole("button", { name: "Pause" })
    .click();
  await expect(page.getByRole("button", { name: "Retry" })).toBeVisible();
  await checkScreen(page, "environments-action-failed", { fullPage: false });

  await page.goto("/environments?search=nothing-like-it&status=paused");
  await expect(page.getByText("No environment matches")).toBeVisible();
  await checkScreen(page, "environments-none");
  await page.goto("/dashboard");
  await expect(page.getByText("whisper-small").first()).toBeVisible();
  await checkScreen(page, "dashboard");
  await page.unroute("**/profile/*");
  await failCalls(page, "**/profile/*");
  await page.goto("/environments");
  await advanceUntilVisible(page, page.getByText("Server failure, please go to Dashboard and refresh"));
  await checkScreen(page, "environments-failed");
  await page.goto("/dashboard");
  await advanceUntilVisible(page, page.getByText("Error fetching user data, please refresh"));
  await checkScreen(page, "dashboard-failed");
  await page.unroute("**/profile/*");
  const release = await holdCalls(page, "**/profile/*");
  for (const path of ["dashboard", "environments"]) {
    await page.goto(`/${path}`);
    await expect(page.getByRole("status").first()).toBeAttached();
    await checkScreen(page, `${path}-loading`);
  }
  release();
  expect(customer.userId).not.toBe("");
});

test("the other signed-in screens are accessible at both widths and in both schemes", async ({ page, customer }) => {
  await page.goto("/dashboard");
  test.setTimeout(150_000);
  await checkScreen(page, "dashboard-empty");
  await page.getByRole("button", { name: "Notifications, 3 unread" }).click();
  await expect(page.getByRole("button", { name: "Mark all as read" })).toBeVisible();
  await checkScreen(page, "notifications", { fullPage: false });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Collapse sidebar" }).click();
  await checkScreen(page, "sidebar-collapsed", { fullPage: false });
  await page.getByRole("button", { name: "Expand sidebar" }).click();
  await page.setViewportSize({ width: 360, height: 780 });
  await page.getByRole("button", { name: "Open menu" }).click();
  await checkScreen(page, "menu", { fullPage: false, stays: "[role=dialog]", only: 360 });

  await page.goto("/billing");
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  await checkScreen(page, "billing-empty");
  await page.route(`**/billing/${customer.userId}`, (route) => route.fulfill({ json: fullStatement }));
  await page.reload();
  await expect(page.getByText("$3,422.40").first()).toBeVisible();
  await checkScreen(page, "billing");
  await page.getByRole("tab", { name: "Payment History" }).click();
  await expect(page.locator("tbody tr")).toHaveCount(5);
  await checkScreen(page, "billing-history");
  await page.unroute(`**/billing/${customer.userId}`);
  await failCalls(page, `**/billing/${customer.userId}`);
  await page.reload();
  await advanceUntilVisible(page, page.getByText("Unable to load billing data"));
  await checkScreen(page, "billing-failed");

  await page.goto("/support");
  await expect(page.getByText("Founder Online")).toBeVisible();
  await checkScreen(page, "support");
  await page.getByRole("combobox", { name: "Issue type" }).click();
  await expect(page.getByRole("option", { name: "Other" })).toBeInViewport();
  await checkScreen(page, "support-types", { fullPage: false, stays: "[role=option]" });
  await page.getByRole("option", { name: "Performance" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("It hangs at epoch 3.");
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(page.getByRole("link", { name: "Open Telegram to Send Message" })).toBeVisible();
  await checkScreen(page, "support-sent");
  await page.getByRole("complementary").getByRole("button", { name: "Terms of Service" }).click();
  await checkScreen(page, "support-modal", { fullPage: false, stays: "[role=dialog]" });
  await page.route("**/support/tickets", (route) => route.abort());
  await page.goto("/support?issue=payment_issues&session=abc123&payment=pay_X1");
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(toastOf(page, "An unexpected error occurred. Please try again.")).toBeVisible();
  await checkScreen(page, "support-failed", { fullPage: false });

  await page.goto("/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await checkScreen(page, "settings");
  const tabs = await page.getByRole("tab").allInnerTexts();
  for (const tab of tabs.slice(1)) {
    await page.getByRole("tab", { name: tab }).click();
    await expect(page.getByRole("tabpanel").getByRole("heading").first()).toBeVisible();
    if (tab === "Password") await page.getByRole("button", { name: "Update Password" }).click();
    await checkScreen(page, `settings-${tab.toLowerCase()}`);
  }
  await page.getByRole("button", { name: "Delete Account" }).click();
  await checkScreen(page, "settings-delete", { fullPage: false, stays: "[role=dialog]" });
  await page.keyboard.press("Escape");
  await page.context().setOffline(true);
  await expect(page.getByText("You are offline")).toBeVisible();
  await checkScreen(page, "offline", { fullPage: false });
  await page.context().setOffline(false);
  await failCalls(page, "**/settings/*");
  await page.goto("/settings");
  await advanceUntilVisible(page, page.getByText("Error fetching user settings... Please refresh"));
  await checkScreen(page, "settings-failed");
});
