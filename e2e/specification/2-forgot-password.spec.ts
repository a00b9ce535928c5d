import type { Page } from "@playwright/test";
import { signUp } from "../../testing/customer.ts";
import { mailedLink } from "../testing/reset-mail.ts";
import { expect, expectAccessible, test } from "../testing/test.ts";
import { toastOf as toast } from "../testing/toasts.ts";

const email = (page: Page) => page.getByLabel("Email");

test("the forgot page shows the specification's texts for refusals and failures (5, 8)", async ({ page, product }) => {
  const ada = await signUp(product.url);
  await page.goto("/forgot-password");
  await expect(email(page)).toHaveAttribute("type", "email");
  const submit = () => page.getByRole("button", { name: "Send Reset Link" }).click();
  await submit();
  await expect(toast(page, "Email address cannot be empty")).toContainText("Error");
  await expect(toast(page, "Email address cannot be empty")).toBeVisible();
  await email(page).fill("no address");
  await submit();
  await expect(page.getByText("Enter an email address such as you@university.edu")).toBeVisible();
  await expect(email(page)).toHaveValue("no address");
  await email(page).fill("");
  await expect(page.getByText("Enter an email address such as you@university.edu")).toBeHidden();

  await email(page).fill(ada.email);
  await page.route("**/auth/reset-password", (route) => route.abort());
  await submit();
  await expect(toast(page, "Technical Failure, please try again after a while")).toContainText("Failed");
  await page.unroute("**/auth/reset-password");

  for (let n = 0; n < 3; n++) await mailedLink(product, ada);
  await submit();
  await expect(toast(page, "Mismatch in user submit")).toContainText("Error");
  await expect(page.getByText("An account gets three reset emails an hour.")).toBeVisible();
  await expect(email(page)).toHaveValue(ada.email);

  await page.getByRole("link", { name: "Sign in here" }).click();
  await page.waitForURL("**/login");
  await page.goBack();
  await page.getByRole("link", { name: "Back to login" }).click();
  await page.waitForURL("**/login");
});

test("an overlay covers the forgot page while the request runs, and the button shows it (2)", async ({ page }) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/auth/reset-password", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/forgot-password");
  await email(page).fill("nobody-at-all@example.com");
  await email(page).press("Enter");
  await expect(page.getByRole("button", { name: "Sending Reset Link..." })).toBeDisabled();
  const overlay = page.locator("[data-overlay]");
  expect(await overlay.boundingBox()).toEqual({ x: 0, y: 0, width: 1440, height: 900 });
  await expectAccessible(page);
  release();
  // The same text for an address without an account (G47).
  await expect(toast(page, "Reset password email sent. Please check you given email.")).toBeVisible();
  await expect(overlay).toBeHidden();
});
