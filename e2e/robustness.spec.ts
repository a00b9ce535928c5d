import type { Page } from "@playwright/test";
import { must, signUp, until } from "../testing/customer.ts";
import { seedHistory } from "../testing/seed.ts";
import { expect, signIn, storeSession, test } from "./testing/test.ts";
import { visit } from "./testing/visit.ts";

const hostile = [
  ["script", `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>`],
  ["long", "A".repeat(200)],
  ["right-to-left", "\u202Eעברית العربية\u202C 👩🏽‍🚀🏳️‍🌈"],
] as const;

for (const [kind, name] of hostile)
  test(`a ${kind} name does no harm on any signed-in screen at 390 px`, async ({ page, product }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const customer = await signUp(product.url, name.slice(0, 100));
    await storeSession(page.context(), product.url, customer);
    await page.goto("/dashboard");
    for (const [path, title] of [
      ["/dashboard", "Dashboard"],
      ["/environments", "Environments"],
      ["/settings", "Settings"],
      ["/support", "Support"],
      ["/billing", "Billing and Usage"],
    ] as const) {
      await visit(page, path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
      await expect(page.getByRole("link", { name: /^Settings of/ })).toBeVisible();
      await expectWhole(page, `${kind} at ${path}`);
    }
    await visit(page, "/dashboard");
    await expect(page.getByRole("heading", { name: `, ${name.slice(0, 100)}` })).toBeVisible();
    await page.getByRole("button", { name: "Open menu" }).click();
    await expect(page.getByRole("dialog", { name: "Menu" })).toContainText(name.slice(0, 100));
    await expectWhole(page, `${kind} in the menu`);
    expect(await page.evaluate(() => "hurt" in window)).toBe(false);
  });

test("a refused field shows its error and keeps its text", async ({ page, customer: _ }) => {
  await page.goto("/environments/create?step=3");
  const field = page.getByLabel("Subdomain");
  await field.fill(`<img src=x onerror="window.hurt=1">`);
  await expect(page.getByText(/lower-case letters, digits and hyphens/).first()).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveValue(`<img src=x onerror="window.hurt=1">`);
  expect(await page.evaluate(() => "hurt" in window)).toBe(false);

  await page.goto("/support");
  await page.getByLabel(/description/i).fill("x".repeat(10_000));
  await expect(page.getByText("1000/1000")).toBeVisible();
});

test("ten thousand characters are cut or refused with a message, without losing other input", async ({
  page,
  product,
}) => {
  const long = "x".repeat(10_000);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/login#signup");
  await page.getByLabel("Email").fill(`${long}@example.com`);
  for (const label of ["Password", "Confirm password"]) await page.getByLabel(label, { exact: true }).fill(long);
  await page.locator("form").getByRole("button", { name: "Sign Up" }).click();
  await expect(page.getByText("Enter an email address such as you@university.edu")).toBeVisible();
  await expect(page.getByLabel("Email")).toHaveValue(`${long}@example.com`);
  await expectWhole(page, "sign-up");

  await storeSession(page.context(), product.url, await signUp(product.url));
  await page.goto("/settings");
  const name = page.getByRole("textbox", { name: "Name" });
  await name.fill("");
  await name.focus();
  await page.keyboard.insertText(long);
  await expect(name).toHaveValue("x".repeat(120));
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(page.getByText("Settings updated successfully")).toBeVisible();
  await expectWhole(page, "settings");

  await visit(page, "/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  await page.goto(`/environments?search=${"x".repeat(2_000)}`);
  await expect(page.locator("h1")).toBeVisible();
  await expectWhole(page, "the list");
});

test("every signed-in screen fits at 200 % zoom and prints without its frame", async ({ page, customer, product }) => {
  await seedHistory(product, customer, { count: 12, prefix: `zoom-${Date.now().toString(36)}` });
  await page.goto("/dashboard");
  for (const [path, words] of [
    ["/dashboard", "Total containers"],
    ["/environments", "Showing 12 of 12"],
    ["/environments/create", "Continue"],
    ["/billing?tab=invoices", "The latest 10 payments"],
    ["/support", "Quick Answers"],
    ["/settings", "Save Changes"],
  ] as const) {
    // 1440 x 900 at 200 % zoom.
    await page.setViewportSize({ width: 720, height: 450 });
    await visit(page, path);
    await expect(page.getByText(words).filter({ visible: true }).first()).toBeVisible();
    await expectWhole(page, `${path} at 200 %`);
    // A4 at 96 dpi.
    await page.setViewportSize({ width: 794, height: 1123 });
    await page.emulateMedia({ media: "print" });
    await expect(page.getByRole("banner")).toBeHidden();
    await expect(page.getByRole("complementary", { name: "Sidebar" })).toBeHidden();
    await expectWhole(page, `${path} on paper`);
    await page.emulateMedia({ media: "screen" });
  }
});

test("logging out in one tab signs out the others, with a message and a link to the login (G45)", async ({
  page,
  context,
  customer: _,
}) => {
  const other = await context.newPage();
  await other.goto("/billing");
  await expect(other.getByRole("tab", { name: "Overview" })).toBeVisible();
  await page.goto("/dashboard");
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL("**/login");
  await expect(page.getByText("Your sign-in has ended")).toBeHidden();
  await other.waitForURL("**/login?from=%2Fbilling");
  await expect(other.getByText("Your sign-in has ended")).toBeVisible();
});

test("an expired token in an open tab is refreshed; an ended sign-in leads to the login with the reason", async ({
  page,
  customer: _,
}) => {
  await page.goto("/environments");
  await expect(page.getByText("Create Your First Environment")).toBeVisible();
  const tokenOf = () => page.evaluate(() => localStorage.getItem("idToken"));
  await page.evaluate(() => localStorage.setItem("idToken", "spoilt"));
  await page.getByRole("link", { name: "Billing", exact: true }).click();
  await expect(page.getByText("No usage data available yet")).toBeVisible();
  expect(await tokenOf()).not.toBe("spoilt");

  await page.evaluate(() => {
    localStorage.setItem("refreshToken", "spoilt");
    localStorage.setItem("idToken", "spoilt");
  });
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.waitForURL(/\/login\?from=/);
  await expect(page.getByText("Your sign-in has ended. Log in again to go on.")).toBeVisible();
  expect(await tokenOf()).toBeNull();
});

for (const [direction, days] of [
  ["fast", 1],
  ["slow", -1],
] as const)
  test(`a browser clock one day ${direction} does not change the time left`, async ({ page, product, customer }) => {
    await seedHistory(product, customer, { count: 1, prefix: `clock-${Date.now().toString(36)}` });
    await page.addInitScript((aheadMs) => {
      const right = Date.now.bind(Date);
      Date.now = () => right() + aheadMs;
    }, days * 86_400_000);
    await page.goto("/environments");
    await expect(page.getByRole("row", { name: /clock-/ })).toContainText(/29d 23h left|30d 0h left/);
    await page.goto("/dashboard");
    await expect(page.getByText(/29d 23h left|30d 0h left/)).toBeVisible();
    await expect(page.getByText("Expired")).toBeHidden();
  });

for (const [kind, spoil] of [
  ["blocked", () => Object.defineProperty(window, "localStorage", { get: () => refuse() })],
  ["full", () => Object.defineProperty(Storage.prototype, "setItem", { value: () => refuse() })],
] as const)
  test(`with storage ${kind} a sign-in lasts as long as the page`, async ({ page, product }) => {
    const customer = await signUp(product.url);
    await page.addInitScript(
      `const refuse = () => { throw new DOMException("no", "QuotaExceededError"); }; (${spoil})()`,
    );
    await signIn(page, customer);
    await expect(page.getByRole("heading", { name: /^Welcome/ })).toBeVisible();
    await page.getByRole("link", { name: "Environments", exact: true }).click();
    await page.getByRole("link", { name: "Create Your First Environment" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("radio", { name: /^2 slots/ })).toBeVisible();
    await page.getByRole("button", { name: "Logout" }).click();
    await page.waitForURL(/\/login/);
  });

declare function refuse(): never;

test("an action on stale data shows a plain message and refreshes the data", async ({ page, product, customer }) => {
  await seedHistory(product, customer, { count: 1, prefix: `stale-${Date.now().toString(36)}` });
  await page.route("**/events", (route) => route.abort());
  await page.goto("/environments");
  const row = page.getByRole("row", { name: /stale-/ });
  await expect(row).toContainText("Active");
  const { containers } = (await must(product.url, "GET", `/profile/${customer.userId}`, { token: customer.idToken }))
    .user_data;
  const [[id, { subdomain }]] = Object.entries(containers) as [[string, { subdomain: string }]];
  await must(product.url, "POST", `/environments/${id}/terminate`, {
    token: customer.idToken,
    body: { confirm: subdomain },
  });
  await until("it to end", async () => {
    const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: customer.idToken });
    return environment.status === "terminated";
  });
  await row.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("alert")).toContainText(/Failed to pause environment: .+/);
  await expect(row).toContainText("Terminated");
});

async function expectWhole(page: Page, what: string): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow, `${what} scrolls sideways`).toBeLessThanOrEqual(0);
}
