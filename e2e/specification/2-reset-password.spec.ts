import type { Page } from "@playwright/test";
import { must, send, signUp } from "../../testing/customer.ts";
import { linkTo, mailedLink } from "../testing/reset-mail.ts";
import { expect, signIn, test } from "../testing/test.ts";
import { toastOf as toast } from "../testing/toasts.ts";

const strong = "A new pass 1!";
const email = (page: Page) => page.getByLabel("Email");
const field = (page: Page) => page.getByLabel("New password", { exact: true });
const confirmation = (page: Page) => page.getByLabel("Confirm password", { exact: true });
const button = (page: Page) => page.getByRole("button", { name: "Reset Password" });

test("a reset by mail ends every sign-in and leads to the login (2, 4, 8, 9)", async ({ page, product, browser }) => {
  const ada = await signUp(product.url);
  const elsewhere = await browser.newPage({ baseURL: product.url });
  await signIn(elsewhere, ada);

  await page.goto("/login");
  await page.getByRole("link", { name: "Forgot Password?" }).click();
  await page.waitForURL("**/forgot-password");
  await expect(page).toHaveTitle(/^Forgot password/);
  await expect(page.getByText("If no email arrives within 5 minutes, check your spam folder")).toBeVisible();
  await email(page).fill(ada.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toast(page, "Reset password email sent. Please check you given email.")).toContainText("Email Sent");

  // The durations of the toasts are tested in section 8, the redirect in section 9.
  await page.clock.install();
  await page.goto(await linkTo(product, ada));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Choose a new password");
  await field(page).fill(strong);
  await confirmation(page).fill(strong);
  await button(page).click();
  const done = toast(page, "Password updated successfully! Navigating to login.");
  await expect(done).toBeVisible();
  await page.clock.fastForward(5_500);
  await page.waitForURL("**/login");

  await elsewhere.goto("/environments");
  await elsewhere.waitForURL(/\/login/);
  await signIn(page, { ...ada, password: strong });
});

test("a new password is checked while it is typed and on every way of submitting (5, G46, G78)", async ({
  page,
  product,
}) => {
  const link = await mailedLink(product, await signUp(product.url));
  await page.goto(link);
  const list = page.getByRole("list", { name: "Password requirements" });
  await expect(list).toBeHidden();
  await expect(button(page)).toBeDisabled();
  const met = () => list.locator('[data-met="true"]').allInnerTexts();
  for (const [typed, count] of [
    ["a", 1],
    ["aB", 2],
    ["aB1", 3],
    ["aB1-", 3],
    ["aB1!", 4],
    ["aB1!5678", 5],
  ] as const) {
    await field(page).fill(typed);
    expect((await met()).length, typed).toBe(count);
  }
  await expect(list.getByRole("listitem")).toHaveCount(5);
  await expect(button(page)).toBeDisabled();
  await confirmation(page).fill("aB1!567");
  await expect(button(page)).toBeEnabled();
  await button(page).click();
  await expect(page.getByText("Passwords do not match")).toBeVisible();
  await confirmation(page).fill("aB1!5678");
  await expect(page.getByText("Passwords do not match")).toBeHidden();

  const submitAnyway = () => page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  await field(page).fill("weak");
  await confirmation(page).fill("weak");
  await expect(button(page)).toBeDisabled();
  await submitAnyway();
  await expect(page.getByText("Password does not meet security requirements")).toBeVisible();
  await confirmation(page).fill("");
  await submitAnyway();
  await expect(page.getByText("Please fill in all fields")).toBeVisible();

  await expect(field(page)).toHaveAttribute("type", "password");
  await page.getByRole("button", { name: "Show new password" }).focus();
  await page.keyboard.press("Enter");
  await expect(field(page)).toHaveAttribute("type", "text");
  await expect(confirmation(page)).toHaveAttribute("type", "password");
  await page.getByRole("button", { name: "Hide new password" }).click();
  await expect(field(page)).toHaveAttribute("type", "password");
});

test("a missing, a wrong and a used code show the invalid-link view with their own texts (4, G78)", async ({
  page,
  product,
}) => {
  const ada = await signUp(product.url);
  const title = page.getByRole("heading", { level: 1, name: "Invalid Reset Link" });
  await page.goto("/reset-password");
  await expect(title).toBeVisible();
  await expect(page.getByText("No reset link or token found!")).toBeVisible();
  await page.getByRole("link", { name: "Request New Reset Link" }).click();
  await page.waitForURL("**/forgot-password");

  await page.goto("/reset-password?oobCode=never-made");
  await expect(title).toBeVisible();
  await expect(page.getByText("Invalid or expired link.Request another one.")).toBeVisible();

  const link = await mailedLink(product, ada);
  const oobCode = new URL(link).searchParams.get("oobCode");
  // A reload does not use up the code; another tab's submit does.
  await page.goto(link);
  await page.reload();
  await field(page).fill(strong);
  await confirmation(page).fill(strong);
  const { identity } = await must(product.url, "GET", "/config");
  const path = `${new URL(identity.accountsUrl, product.url).pathname}:resetPassword?key=${identity.apiKey}`;
  const spent = await send(product.url, "POST", path, { body: { oobCode, newPassword: "Another tab 1!" } });
  expect(spent.status).toBe(200);
  await button(page).click();
  await expect(toast(page, "Failed to reset password. Try again after a while")).toBeVisible();
  await expect(page.getByRole("main").getByText("Invalid or expired link.Request another one.")).toBeVisible();
  await expect(field(page)).toHaveValue(strong);
  await expect(toast(page, "Failed to reset password. Try again after a while")).toBeVisible();
  await page.reload();
  await expect(title).toBeVisible();
});

test("submit waits for the check of the link, and a network error does not call the link invalid (G48)", async ({
  page,
  product,
}) => {
  const link = await mailedLink(product, await signUp(product.url));
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const checks = "**/accounts:resetPassword*";
  await page.route(checks, async (route) => {
    await held;
    await route.abort();
  });
  await page.goto(link);
  await field(page).fill("weak");
  await confirmation(page).fill("weak");
  await page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  await expect(page.getByText("Password does not meet security requirements")).toBeVisible();
  await field(page).fill(strong);
  await confirmation(page).fill(strong);
  await expect(button(page)).toBeDisabled();
  release();
  await expect(page.getByText("The link could not be checked")).toBeVisible();
  await expect(button(page)).toBeDisabled();
  await page.unroute(checks);
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(button(page)).toBeEnabled();
  await page.route(checks, (route) => route.abort());
  await button(page).click();
  await expect(toast(page, "Failed to reset password. Try again after a while")).toBeVisible();
});

test("resetting one account keeps another account's sign-in in this browser", async ({ page, product }) => {
  const [ada, ben] = [await signUp(product.url), await signUp(product.url)];
  await signIn(page, ben);
  await page.goto(await mailedLink(product, ada));
  await field(page).fill(strong);
  await confirmation(page).fill(strong);
  await button(page).click();
  await page.getByRole("link", { name: "Go to login" }).click();
  await page.waitForURL("**/dashboard");
});

test("the button shows a running reset, and a second press does nothing (2)", async ({ page, product }) => {
  await page.goto(await mailedLink(product, await signUp(product.url)));
  await field(page).fill(strong);
  await confirmation(page).fill(strong);
  await expect(button(page)).toBeEnabled();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/accounts:resetPassword*", async (route) => {
    asked += 1;
    await held;
    await route.continue();
  });
  await button(page).click();
  await expect(page.getByRole("button", { name: "Resetting Password..." })).toBeDisabled();
  await page.locator("form").evaluate((form: HTMLFormElement) => form.requestSubmit());
  release();
  await expect(toast(page, "Password updated successfully! Navigating to login.")).toBeVisible();
  expect(asked).toBe(1);
});
