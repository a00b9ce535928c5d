import { signUp } from "../../testing/customer.ts";
import { everyState, inHours, showContainers } from "../testing/containers.ts";
import { toLastStep } from "../testing/pay.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, test } from "../testing/test.ts";
import { advanceUntilVisible, expectToast, freeze, toastOf } from "../testing/toasts.ts";

const minuteMs = 60_000;

test("the token is refreshed every 50 minutes, and later calls send the new one", async ({ page, customer }) => {
  const refreshes: string[] = [];
  page.on("request", (request) => {
    if (/\/token\?key=/.test(request.url())) refreshes.push(request.url());
  });
  await page.clock.install();
  await page.goto("/support");
  await expect(page.getByText("Founder Online")).toBeVisible();
  const token = () => page.evaluate(() => localStorage.getItem("idToken"));
  const before = await token();
  await page.clock.fastForward(49 * minuteMs);
  await page.clock.runFor(10_000);
  expect(refreshes).toHaveLength(0);
  await page.clock.fastForward(minuteMs + 30_000);
  await expect.poll(() => refreshes.length).toBe(1);
  await expect.poll(token).not.toBe(before);
  const billing = page.waitForRequest("**/billing/*");
  await page.getByRole("link", { name: "Billing" }).click();
  expect((await billing).headers()["authorization"]).toBe(`Bearer ${await token()}`);
  await page.clock.fastForward(49 * minuteMs);
  expect(refreshes).toHaveLength(1);
  await page.clock.fastForward(minuteMs + 30_000);
  await expect.poll(() => refreshes.length).toBe(2);
  expect(customer.userId).not.toBe("");
});

test("the search waits 300 ms after the last key", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await showContainers(page, everyState);
  await page.clock.install();
  await page.goto("/environments");
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await freeze(page);
  const search = page.getByRole("textbox", { name: "Search environments" });
  await search.pressSequentially("res");
  await page.clock.runFor(250);
  await search.pressSequentially("net");
  await page.clock.runFor(280);
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await page.clock.runFor(40);
  await expect(page.getByText("Showing 1 of 7 environments")).toBeVisible();
  // Clear All also clears text that is not searched for yet (2).
  await search.fill("");
  await page.clock.runFor(320);
  await page.getByRole("button", { name: /^Active/ }).click();
  await expect(page.getByText("Showing 2 of 7 environments")).toBeVisible();
  await search.pressSequentially("lab");
  await page.getByRole("button", { name: "Clear All" }).click();
  await page.clock.runFor(400);
  await expect(page.getByText("Showing 7 of 7 environments")).toBeVisible();
  await expect(search).toHaveValue("");
});

test("after a reset the page redirects to the login at 5.5 s", async ({ page, product }) => {
  const link = await mailedLink(product, await signUp(product.url));
  await page.clock.install();
  await page.goto(link);
  for (const label of ["New password", "Confirm password"])
    await page.getByLabel(label, { exact: true }).fill("A new pass 1!");
  const submit = page.getByRole("button", { name: "Reset Password" });
  await expect(submit).toBeEnabled();
  await freeze(page);
  await submit.click();
  await advanceUntilVisible(page, toastOf(page, "Password updated successfully!"), 20);
  await page.clock.runFor(5_300);
  // The next page is a chunk of its own; a premature redirect would need a moment to load it.
  await expect(page.waitForURL("**/login", { timeout: 1_000 })).rejects.toThrow();
  await page.clock.runFor(300);
  await page.waitForURL("**/login");
});

test("at most three toasts are shown at once, and closing one takes 300 ms", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await page.goto("/settings");
  await expect(page.getByLabel("Email")).toHaveValue(customer.email);
  await freeze(page);
  const all = page.locator("[data-toast]");
  for (let n = 0; n < 5; n++) {
    const answered = page.waitForResponse("**/settings/*/profile");
    await page.getByRole("button", { name: "Save Changes" }).click();
    await answered;
    await expect
      .poll(async () => {
        await page.clock.runFor(20);
        return page.getByRole("button", { name: "Save Changes" }).isEnabled();
      })
      .toBe(true);
  }
  await page.clock.runFor(400);
  await expect(all).toHaveCount(3);
  await all.first().getByRole("button", { name: "Close" }).click();
  await page.clock.runFor(250);
  await expect(all).toHaveCount(3);
  await page.clock.runFor(1_000);
  await expect(all).toHaveCount(3);
  // A toast stays while the pointer is over it.
  await page.mouse.move(20, 600);
  for (const _ of [1, 2, 3]) await page.clock.runFor(6_000);
  await expect(all).toHaveCount(0);
});

test("five recent environments, ten invoices, six months; usage hours with one decimal", async ({ page, customer }) => {
  const [first] = Object.values(everyState);
  const many = Array.from({ length: 12 }, (_, index) => [
    `${index}a3f9c27b0d4e5a6`,
    { ...first, subdomain: `many-${index}`, created_at: inHours(-index), duration_hours: 1.25 },
  ]);
  await showContainers(page, Object.fromEntries(many));
  await page.goto("/dashboard");
  await expect(page.getByRole("region", { name: "Recent Environments" }).getByRole("listitem")).toHaveCount(5);
  await expect(page.locator("dl.panel > div").filter({ hasText: "Total Usage" })).toContainText("15.0");
  expect(customer.userId).not.toBe("");
});

test("the promised periods are shown where they apply: 1 hour, 5 minutes, 4-5 business days, 168 hours", async ({
  page,
  customer,
}) => {
  expect(customer.userId).not.toBe("");
  await page.goto("/support");
  await expect(page.getByText("Usually within 1 hour").first()).toBeVisible();
  await page.evaluate(() => localStorage.clear());
  await page.goto("/forgot-password");
  await expect(page.getByText(/within 5 minutes, check your spam folder/)).toBeVisible();
  await page.goto("/terms-condition");
  await expect(page.getByRole("article")).toContainText("4-5 business days");
  await expect(page.getByRole("article")).toContainText("168 hours");
  await page.goto("/");
  for (const text of ["24/7 dedicated support", "guaranteed availability", "custom configurations", "volume discount"])
    await expect(page.locator("#pricing, main").first()).toContainText(text);
});

test("the loading toast of a cancelled payment stays 2 s", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  await page.clock.install();
  await toLastStep(page, `cancel-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Launch" }).click();
  const dismiss = page.frameLocator("iframe").getByRole("button", { name: "Cancel payment" });
  await expect(dismiss).toBeVisible();
  await freeze(page);
  await dismiss.click();
  await expectToast(page, "Payment cancelled. Cleaning up...", "", 2_000);
});
