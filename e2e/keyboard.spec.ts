import type { Locator, Page } from "@playwright/test";
import { create, orderAndPay, signUp } from "../testing/customer.ts";
import { mailedLink } from "./testing/reset-mail.ts";
import { expect, test } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";

/** Presses Tab until the target has the focus; each focused element on the way must have a visible ring. */
async function tabTo(page: Page, target: Locator, key = "Tab"): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press(key);
    await expectFocusVisible(page);
  }
  throw new Error(`80 times ${key} did not reach ${target}`);
}

interface Focus {
  readonly on: string;
  readonly visible: boolean;
}

/** The focused element is visible and has a focus ring on itself, its parent or its sibling. */
async function expectFocusVisible(page: Page): Promise<void> {
  const focus = () =>
    page.evaluate((): Focus => {
      const active = document.activeElement;
      // After the last element the browser itself has the focus; a frame is not inspected.
      if (!active || active === document.body || active instanceof HTMLIFrameElement) return { on: "", visible: true };
      const ringed = (element: Element | null): boolean => {
        if (!element) return false;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return outlineStyle !== "none" && outlineWidth !== "0px";
      };
      const { width, height } = active.getBoundingClientRect();
      const visible = width > 0 && height > 0 && [active, active.parentElement, active.nextElementSibling].some(ringed);
      return { on: active.outerHTML.slice(0, 160), visible };
    });
  await expect.poll(focus).toMatchObject({ visible: true });
}

/** Tabs to the field and types. */
async function type(page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(
    page,
    page
      .getByRole("textbox", { name: label, exact: true })
      .or(page.getByLabel(label, { exact: true }))
      .first(),
  );
  await page.keyboard.insertText(text);
}

async function press(page: Page, target: Locator, key = "Enter"): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Types a card; the number field must have the focus. */
async function typeCard(page: Page): Promise<void> {
  await page.keyboard.type("5555555555554444");
  for (const text of ["1234", "123"]) {
    await page.keyboard.press("Tab");
    await page.keyboard.type(text);
  }
  await page.keyboard.press("Enter");
}

test("an environment is rented and ended by keyboard, from the landing page on", async ({ page, product }) => {
  test.setTimeout(150_000);
  const name = `keys-${Date.now().toString(36)}`;
  await page.goto("/");
  await page.keyboard.press("Tab");
  const skip = page.getByRole("link", { name: "Skip to content" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#main$/);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("main").locator(":focus")).toHaveCount(1);
  await tabTo(page, page.getByRole("banner").getByRole("link", { name: "Sign Up" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/login#signup");

  await type(page, "Email", `${name}@example.com`);
  await type(page, "Password", "a good password 1");
  await type(page, "Confirm password", "a good password 1");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");

  await press(page, page.getByRole("link", { name: "Create New Environment" }));
  await tabTo(page, page.getByRole("radio", { name: "JupyterLab" }));
  await press(page, page.getByRole("button", { name: "Continue" }));
  await expect(page.getByRole("region", { name: "Step 2: Resources" })).toBeFocused();
  await tabTo(page, page.getByRole("radio", { name: /^2 slots/ }));
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("radio", { name: /^1 slot,/ })).toBeFocused();
  await expect(page.getByRole("radio", { name: /^1 slot,/ })).toBeChecked();
  // Each group is one stop of Tab (G341).
  await page.keyboard.press("Tab");
  await expect(page.getByRole("radio", { name: /^1 hour/ })).toBeFocused();
  await press(page, page.getByRole("button", { name: "Continue" }));
  await type(page, "Subdomain", name);
  await expect(page.getByText(/is free/).first()).toBeVisible();
  await page.keyboard.press("Enter");
  await press(page, page.getByRole("button", { name: "Launch" }));

  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByLabel("Card number")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.locator("iframe")).toBeHidden();
  const launch = page.getByRole("button", { name: "Launch" });
  await expect(launch).toBeEnabled();
  await press(page, launch);
  await expect(dialog.getByLabel("Card number")).toBeFocused();
  await typeCard(page);
  await page.waitForURL("**/environments", { timeout: 60_000 });

  const row = page.locator("tr[data-status]", { hasText: name });
  await press(page, row.getByRole("button", { name: "Pause" }));
  await expect(row).toContainText("Paused");
  const menu = row.getByRole("button", { name: `More actions for ${name}` });
  await expect(menu).toBeEnabled({ timeout: 30_000 });
  await press(page, menu);
  const terminate = page.getByRole("menuitem", { name: "Terminate" });
  await expect(terminate).toBeVisible();
  // Immediately, wherever the focus is.
  await page.keyboard.press("Escape");
  await expect(terminate).toBeHidden();
  await expect(menu).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("[role=menuitem]:focus")).toHaveCount(1);
  await page.keyboard.press("End");
  await expect(terminate).toBeFocused();
  await page.keyboard.press("Enter");

  const sure = page.getByRole("dialog");
  await expect(sure.getByRole("textbox")).toBeFocused();
  for (let n = 0; n < 6; n++) {
    await page.keyboard.press("Tab");
    await expect(sure.locator(":focus")).toHaveCount(1);
  }
  await page.keyboard.press("Escape");
  await expect(sure).toBeHidden();
  await expect(menu).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("[role=menu]:focus-within")).toHaveCount(1);
  await page.keyboard.press("End");
  await expect(terminate).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(sure.getByRole("textbox")).toBeFocused();
  await page.keyboard.insertText(name);
  await page.keyboard.press("Enter");
  await expect(row).toContainText("Terminated");
  expect(product.port).toBeGreaterThan(0);
});

test("bell, color scheme, sidebar and settings work by keyboard", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/dashboard");
  await expect(page.getByText("Active Environments")).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  const bell = page.getByRole("button", { name: /^Notifications/ });
  await tabTo(page, bell, "Shift+Tab");
  await page.keyboard.press("Enter");
  const all = page.getByRole("button", { name: "Mark all as read" });
  await expect(all).toBeFocused();
  for (let n = 0; n < 5; n++) {
    await page.keyboard.press("Tab");
    await expect(page.getByRole("dialog").locator(":focus")).toHaveCount(1);
  }
  await press(page, all);
  await expect(page.getByTestId("unread")).toBeHidden();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(bell).toBeFocused();

  await press(page, page.getByRole("link", { name: "Settings of Ada Park" }));
  await page.waitForURL("**/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await tabTo(page, page.getByLabel("Phone (optional)"));
  await page.keyboard.insertText("+1 555 010 0199");
  await page.keyboard.press("Enter");
  await expect(toastOf(page, "Settings updated successfully")).toBeVisible();
  await tabTo(page, page.getByRole("tab", { name: "Profile" }), "Shift+Tab");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("tab", { name: "Password" })).toBeFocused();
  await type(page, "Current password", customer.password);
  await type(page, "New password", "newone");
  await type(page, "Confirm new password", "newone");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Current password", { exact: true })).toHaveValue("");
  await press(page, page.getByRole("button", { name: "Logout" }));
  await page.waitForURL("**/login");
});

test("support, its modal and the list's filters work by keyboard", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/support");
  await tabTo(page, page.getByRole("combobox", { name: "Issue type" }));
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("combobox", { name: "Issue type" })).not.toHaveValue("");
  await type(page, "Description", "It hangs at epoch 3.");
  await press(page, page.getByRole("button", { name: /^Open Telegram Chat with/ }));
  await expect(page.getByRole("link", { name: "Open Telegram to Send Message" })).toBeVisible();
  const card = page
    .getByRole("complementary", { name: "Support details" })
    .getByRole("button", { name: "Refund policy" });
  await press(page, card);
  const modal = page.getByRole("dialog");
  await expect(modal).toBeVisible();
  for (let n = 0; n < 4; n++) {
    await page.keyboard.press("Tab");
    await expect(modal.locator(":focus")).toHaveCount(1);
  }
  await page.keyboard.press("Escape");
  await expect(modal).toBeHidden();
  await expect(card).toBeFocused();

  await page.goto("/billing");
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  await tabTo(page, page.getByRole("tab", { name: "Overview" }));
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText("No payment history available")).toBeVisible();
});

test("a password is reset by keyboard", async ({ page, product }) => {
  const ada = await signUp(product.url);
  await page.goto("/login");
  await press(page, page.getByRole("link", { name: "Forgot Password?" }));
  await page.waitForURL("**/forgot-password");
  await type(page, "Email", ada.email);
  await page.keyboard.press("Enter");
  await expect(toastOf(page, "Reset password email sent.")).toBeVisible();
  await page.goto(await mailedLink(product, ada));
  await type(page, "New password", "A new pass 1!");
  await press(page, page.getByRole("button", { name: "Show new password" }));
  await expect(page.getByLabel("New password", { exact: true })).toHaveAttribute("type", "text");
  await type(page, "Confirm password", "A new pass 1!");
  await page.keyboard.press("Enter");
  await expect(toastOf(page, "Password updated successfully! Navigating to login.")).toBeVisible();
  await press(page, page.getByRole("link", { name: "Go to login" }));
  await page.waitForURL("**/login");
  await type(page, "Email", ada.email);
  await type(page, "Password", "A new pass 1!");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard");
});

test("extension, receipt, data export and account deletion work by keyboard", async ({
  page,
  product,
  customer: ada,
}) => {
  const subdomain = `more-${Date.now().toString(36)}`;
  await create(product.url, ada, await orderAndPay(product.url, ada, { subdomain, gpuCount: 1 }));
  await page.goto("/environments");
  const menu = page.getByRole("button", { name: `More actions for ${subdomain}` });
  await press(page, menu);
  await expect(page.locator("[role=menu]:focus-within")).toHaveCount(1);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("menuitem", { name: "Add time" })).toBeFocused();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: /^Add time to/ });
  await tabTo(page, dialog.getByRole("radio", { name: /^1 hour,/ }));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await expect(dialog.getByRole("radio", { name: /^6 hours,/ })).toBeChecked();
  await press(page, dialog.getByRole("button", { name: /^Pay/ }));
  await expect(page.frameLocator("iframe").getByLabel("Card number")).toBeFocused();
  await typeCard(page);
  await expect(toastOf(page, "6 hours added to")).toBeVisible();
  await expect(dialog).toBeHidden();
  await expect(menu).toBeFocused();

  await page.goto("/billing?tab=invoices");
  const receipt = page.waitForEvent("download");
  await press(page, page.getByRole("button", { name: /^Receipt INV-/ }).first());
  expect((await receipt).suggestedFilename()).toMatch(/^INV-.*\.pdf$/);

  await page.goto("/settings?tab=data");
  const file = page.waitForEvent("download");
  await press(page, page.getByRole("button", { name: "Download" }));
  expect((await file).suggestedFilename()).toMatch(/^your-data-/);
  await press(page, page.getByRole("button", { name: "Delete Account" }));
  await type(page, `Type ${ada.email} to confirm`, ada.email);
  await tabTo(page, page.getByRole("dialog").getByLabel("Password", { exact: true }));
  await page.keyboard.insertText(ada.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/login");
  await expect(page.getByText("Your account is deleted")).toBeVisible();
});
