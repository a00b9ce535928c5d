import type { Page, Request } from "@playwright/test";
import { everyState, showContainers } from "../testing/containers.ts";
import { payInDialog, toLastStep } from "../testing/pay.ts";
import { expect, test } from "../testing/test.ts";
import { toastOf } from "../testing/toasts.ts";

/** Records every call of this page from now on, as "METHOD /path". */
function listen(page: Page): { readonly seen: Request[]; readonly find: (line: string) => Request | undefined } {
  const seen: Request[] = [];
  page.on("request", (request) => {
    if (["fetch", "xhr"].includes(request.resourceType())) seen.push(request);
  });
  const lineOf = (request: Request) => `${request.method()} ${new URL(request.url()).pathname}`;
  return { seen, find: (line) => seen.find((request) => lineOf(request) === line) };
}

const keysOf = (request: Request | undefined) => Object.keys(request?.postDataJSON() ?? {});
const bearer = /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/;

test("signing up, validating and reading the profile (G44, G93)", async ({ page }) => {
  const { find } = listen(page);
  await page.goto("/signup");
  await page.getByLabel(/^Name/).fill("Ada");
  await page.getByLabel("Email").fill(`calls-${Date.now()}@example.com`);
  await page.getByLabel("Password", { exact: true }).fill("sixsix");
  await page.getByLabel("Confirm password").fill("sixsix");
  await page.locator("form").getByRole("button", { name: "Sign Up" }).click();
  await expect(page.getByText("Active Environments")).toBeVisible();
  const userId = await page.evaluate(() => localStorage.getItem("user_id"));
  const signup = find("POST /auth/signup");
  expect(keysOf(signup)).toEqual(["email", "password", "name"]);
  expect(signup?.headers()["authorization"]).toBeUndefined();
  expect(Object.keys(await (await signup?.response())?.json())).toContain("access_token");
  for (const line of ["GET /auth/validate", `GET /profile/${userId}`]) {
    const request = find(line);
    expect(request?.headers()["authorization"], line).toMatch(bearer);
    const answer = await request?.response();
    expect(await answer?.json(), line).toMatchObject({ status: "success" });
  }
});

test("the order, the dismissal and the creation, key by key (G5, G6, G9, G14)", async ({ page, customer }) => {
  const { find, seen } = listen(page);
  const name = `calls-${Date.now().toString(36)}`;
  await toLastStep(page, name);
  const launch = page.getByRole("button", { name: "Launch" });
  await launch.click();
  const request = {
    user_id: customer.userId,
    container_type: "jupyter",
    subdomain: name,
    gpu_count: 2,
    duration: 1,
  };
  await page.frameLocator("iframe").getByRole("button", { name: "Cancel payment" }).click();
  const order = find("POST /docker/payments/create_order");
  expect(order?.postDataJSON()).toEqual({
    container_request: request,
    payment_request: { amount: 0.4, currency: "USD", user_id: customer.userId, container_request: request },
  });
  expect(order?.headers()["authorization"]).toMatch(bearer);
  const placed = await (await order?.response())?.json();
  expect(Object.keys(placed).sort()).toEqual([
    "amount",
    "currency",
    "description",
    "id",
    "key_id",
    "message",
    "name",
    "status",
    "theme",
    // The dialog's timeout is the end of the hold (G112).
    "timeout",
  ]);
  expect([placed.status, placed.amount, placed.currency]).toEqual(["success", 40, "USD"]);
  await expect.poll(() => find(`POST /docker/payments/clear/${placed.id}`)?.headers()["authorization"]).toMatch(bearer);

  await expect(launch).toBeEnabled();
  seen.length = 0;
  await page.route("**/docker/environment/create", (route) =>
    route.fulfill({ status: 418, json: { status: "error", code: "not_delivered", message: "No", detail: "No" } }),
  );
  await launch.click();
  await payInDialog(page);
  await expect(toastOf(page, "HTTP 418")).toBeVisible();
  const created = find("POST /docker/environment/create")?.postDataJSON();
  expect(created.container_request).toEqual(request);
  expect(Object.keys(created)).toEqual(["container_request", "payment_data"]);
  expect(Object.keys(created.payment_data)).toEqual(["razorpay_order_id", "razorpay_payment_id", "razorpay_signature"]);
  expect(created.payment_data.razorpay_signature).toMatch(/^[0-9a-f]{64}$/);
});

test("actions, settings, password, billing, support and reset: method, path, payload (G63, G64)", async ({
  page,
  customer,
}) => {
  const { find } = listen(page);
  await showContainers(page, everyState);
  await page.route("**/docker/*_container/**", (route) =>
    route.fulfill({
      status: 409,
      json: { status: "error", code: "action_not_allowed", detail: "Only said in detail" },
    }),
  );
  await page.goto("/environments");
  await page
    .getByRole("row", { name: /resnet-lab/ })
    .getByRole("button", { name: "Pause" })
    .click();
  await expect(toastOf(page, "Failed to pause environment: ")).toBeVisible();
  expect(find(`POST /docker/pause_container/1a3f9c27b0d4e5a6/${customer.userId}`)).toBeDefined();

  await page.goto("/settings");
  await page.getByLabel("Phone (optional)").fill("+1 555 010 0199");
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(toastOf(page, "Settings updated successfully")).toBeVisible();
  expect(find(`GET /settings/${customer.userId}`)).toBeDefined();
  const saved = find(`PUT /settings/${customer.userId}/profile`);
  expect(saved?.postDataJSON()).toEqual({ name: "Ada Park", phone: "+1 555 010 0199" });
  expect(await (await saved?.response())?.json()).toMatchObject({ success: true, message: expect.any(String) });

  await page.goto("/settings?tab=password");
  for (const [label, value] of [
    ["Current password", customer.password],
    ["New password", "newone"],
    ["Confirm new password", "newone"],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: "Update Password" }).click();
  await expect(toastOf(page, "Settings updated successfully")).toBeVisible();
  expect(find(`POST /settings/${customer.userId}/password`)?.postDataJSON()).toEqual({
    currentPassword: customer.password,
    newPassword: "newone",
  });

  await page.goto("/billing");
  await expect(page.getByText("No spending data available yet")).toBeVisible();
  expect(find(`GET /billing/${customer.userId}`)?.headers()["authorization"]).toMatch(bearer);

  await page.goto("/support?issue=other");
  await page.getByRole("textbox", { name: "Description" }).fill("It hangs");
  await page.getByRole("button", { name: /^Open Telegram Chat with/ }).click();
  await expect(page.getByRole("link", { name: "Open Telegram to Send Message" })).toBeVisible();
  expect(find("POST /support/tickets")?.postDataJSON()).toMatchObject({
    issueType: "other",
    description: "It hangs",
    userEmail: customer.email,
    userId: customer.userId,
  });

  await page.evaluate(() => localStorage.clear());
  await page.goto("/forgot-password");
  await page.getByLabel("Email").fill(customer.email);
  await page.getByRole("button", { name: "Send Reset Link" }).click();
  await expect(toastOf(page, "Reset password email sent.")).toBeVisible();
  expect(find("POST /auth/reset-password")?.postDataJSON()).toEqual({ email: customer.email });
});
