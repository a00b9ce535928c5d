import { everyState, showContainers } from "../testing/containers.ts";
import { jsonReply, mockCalls } from "../testing/mock-calls.ts";
import { toLastStep } from "../testing/pay.ts";
import { expect, test } from "../testing/test.ts";
import { toastOf } from "../testing/toasts.ts";

const actions = "**/docker/*_container/**";

test("an order that is refused with HTTP 200 is a notice, and one without a message says that it failed (8, G117)", async ({
  page,
  customer: _,
}) => {
  await toLastStep(page, `answers-${Date.now().toString(36)}`);
  const order = "**/docker/payments/create_order";
  const launch = page.getByRole("button", { name: "Launch" });
  for (const [json, status, text] of [
    [
      { status: "error", message: "No GPU is free until 4:40 PM" },
      200,
      "SYSTEM NOTIFICATIONNo GPU is free until 4:40 PM",
    ],
    [{ status: "error", detail: "The name is taken" }, 409, "SYSTEM NOTIFICATIONThe name is taken"],
    [{}, 500, "Failed to create environment"],
    [{ status: "error" }, 200, "Failed to create environment"],
  ] as const) {
    await mockCalls(page, order, jsonReply(json, status));
    await launch.click();
    const toast = toastOf(page, text.replace("SYSTEM NOTIFICATION", ""));
    await expect(toast).toHaveText(new RegExp(`^${text}`));
    await toast.getByRole("button", { name: "Close" }).click();
    await expect(toast).toBeHidden();
  }
});

test("an action succeeds by its reply; a failure shows the message, the detail or the catalogue's text (7, 8, G117)", async ({
  page,
  customer: _,
}) => {
  await showContainers(page, everyState);
  await page.goto("/environments");
  const stop = page.getByRole("row", { name: /resnet-lab/ }).getByRole("button", { name: "Stop" });
  for (const [json, status, text] of [
    [{ status: "error", message: "No GPU is free" }, 200, "Failed to stop environment: No GPU is free"],
    [{ success: false, detail: "Frozen" }, 200, "Failed to stop environment: Frozen"],
    [{ detail: "Only detail here" }, 500, "Failed to stop environment: Only detail here"],
    [{}, 500, "Failed to stop container - Unknown error"],
    [{ success: true }, 200, "Environment resnet-lab stopped and cleaned up"],
  ] as const) {
    await mockCalls(page, actions, jsonReply(json, status));
    await stop.click();
    await expect(toastOf(page, text)).toBeVisible();
    // Toasts cover the buttons.
    await toastOf(page, text).getByRole("button", { name: "Close" }).click();
    await expect(toastOf(page, text)).toBeHidden();
  }
});

test("settings, password and ticket can be refused with HTTP 200 (7, G117)", async ({ page, customer: _ }) => {
  const no = { success: false, message: "Not today" };
  await page.goto("/settings");
  await mockCalls(page, "**/settings/*/profile", jsonReply(no));
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(toastOf(page, "Failed to update user settings")).toBeVisible();

  await mockCalls(page, "**/settings/*/password", jsonReply(no));
  await page.getByRole("tab", { name: "Password" }).click();
  for (const label of ["Current password", "New password", "Confirm new password"])
    await page.getByLabel(label, { exact: true }).fill("sixsix");
  await page.getByRole("button", { name: "Update Password" }).click();
  await expect(toastOf(page, "Error updating password...")).toBeVisible();
  await expect(page.getByLabel("Current password", { exact: true })).toHaveValue("sixsix");

  await mockCalls(page, "**/support/tickets", jsonReply(no));
  await page.goto("/support?issue=other");
  await page.getByRole("textbox", { name: "Description" }).fill("It hangs");
  const submit = page.getByRole("button", { name: /^Open Telegram Chat with/ });
  await submit.click();
  await expect(toastOf(page, "Not today")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Description" })).toHaveValue("It hangs");
  await mockCalls(page, "**/support/tickets", jsonReply({}, 422));
  await submit.click();
  await expect(toastOf(page, "An unexpected error occurred. Please try again.")).toBeVisible();
});

test("a profile refused with HTTP 200 is unreadable, and a token without an explicit success is invalid (7, G117)", async ({
  page,
  customer,
}) => {
  await mockCalls(page, `**/profile/${customer.userId}`, jsonReply({ status: "error", message: "Broken" }));
  await page.goto("/dashboard");
  await expect(page.getByText("Error fetching user data, please refresh")).toBeVisible();
  await page.unroute(`**/profile/${customer.userId}`);
  await mockCalls(page, "**/auth/validate", jsonReply({ status: "error" }));
  await page.goto("/dashboard");
  await page.waitForURL("**/login?*");
  expect(await page.evaluate(() => localStorage.getItem("idToken"))).toBeNull();
});

test("sign-up without a reason shows the catalogue's text, login the provider's (8, G117)", async ({ page }) => {
  await page.goto("/signup");
  await page.getByLabel("Email").fill(`new-${Date.now()}@example.com`);
  for (const label of ["Password", "Confirm password"]) await page.getByLabel(label, { exact: true }).fill("sixsix");
  const form = page.locator("form");
  for (const [json, status, text] of [
    [{}, 500, "An unexpected error occurred. Please try again."],
    [{ detail: "This address has an account" }, 409, "This address has an account"],
  ] as const) {
    await mockCalls(page, "**/auth/signup", jsonReply(json, status));
    await form.getByRole("button", { name: "Sign Up" }).click();
    await expect(toastOf(page, text)).toHaveText(new RegExp(`^Signup Failed${text}`));
  }
  await page.goto("/login");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByLabel("Password", { exact: true }).fill("sixsix");
  for (const [message, text] of [
    ["The provider says no", "The provider says no"],
    ["OPERATION_NOT_ALLOWED : disabled", "Login failed. Please check your credentials."],
  ] as const) {
    await mockCalls(page, "**/accounts:signInWithPassword*", jsonReply({ error: { code: 400, message } }, 400));
    await form.getByRole("button", { name: "Login" }).click();
    await expect(toastOf(page, text)).toHaveText(new RegExp(`^Login Failed${text}`));
  }
});
