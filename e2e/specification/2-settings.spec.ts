import { must } from "../../testing/customer.ts";
import { expect, expectAccessible, signIn, test } from "../testing/test.ts";

const updated = "Settings updated successfully";

test("profile: the e-mail is read-only; name and phone are saved and shown at once (2, 8, G80)", async ({
  page,
  product,
  customer,
}) => {
  await page.goto("/settings");
  const email = page.getByLabel("Email");
  await expect(email).toHaveValue(customer.email);
  await expect(email).not.toBeEditable();
  await expect(page.getByText("Email cannot be changed. Contact support for assistance.")).toBeVisible();
  const name = "Ada <b>Lovelace</b>";
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Phone (optional)").fill("+1 555 010 0199");
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(page.getByText(updated)).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Sidebar" }).getByText(name)).toBeVisible();
  const stored = await must(product.url, "GET", `/settings/${customer.userId}`, { token: customer.idToken });
  expect(stored.profile).toMatchObject({ name, phone: "+1 555 010 0199" });
  await page.reload();
  await expect(page.getByLabel("Phone (optional)")).toHaveValue("+1 555 010 0199");
  await expectAccessible(page);

  await page.route("**/settings/*/profile", (route) =>
    route.fulfill({ status: 503, json: { status: "error", code: "unavailable", message: "no", detail: "no" } }),
  );
  await page.getByLabel("Name").fill("Kept as typed");
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(page.getByText("Failed to update user settings")).toBeVisible();
  await expect(page.getByLabel("Name")).toHaveValue("Kept as typed");
  await page.unroute("**/settings/*/profile");
  await page.route("**/settings/*/profile", (route) => route.abort());
  await page.getByRole("button", { name: "Save Changes" }).click();
  await expect(page.getByText("Error updating password...")).toBeVisible();
});

test("password: every refusal has its text; a change clears the form and works at the next login (2, 5, 8, G46, G65)", async ({
  page,
  customer: ada,
}) => {
  await page.goto("/settings?tab=password");
  const current = page.getByLabel("Current password", { exact: true });
  const next = page.getByLabel("New password", { exact: true });
  const confirmation = page.getByLabel("Confirm new password", { exact: true });
  const fill = async (values: readonly [string, string, string]) => {
    for (const [index, field] of [current, next, confirmation].entries()) await field.fill(values[index] ?? "");
    await page.getByRole("button", { name: "Update Password" }).click();
  };
  await fill(["", "newone", "newone"]);
  await expect(page.getByText("Please fill in all required fields")).toBeVisible();
  await fill([ada.password, "newone", "newtwo"]);
  await expect(page.getByText("Denied.")).toBeVisible();
  await expect(page.locator("[data-toast=error]").getByText("New passwords do not match")).toBeVisible();
  await expect(next).toHaveValue("newone");
  await fill([ada.password, "five5", "five5"]);
  await expect(page.getByText("Password must be at least 6 characters")).toBeVisible();
  await fill(["not my password", "newone", "newone"]);
  await expect(page.getByText("Error updating password...")).toBeVisible();
  await expect(page.getByText("This is not your current password")).toBeVisible();
  await expectAccessible(page);
  await expect(page.getByText(/^Stronger with:/)).toBeVisible();

  await fill([ada.password, "newone", "newone"]);
  await expect(page.getByText(updated)).toBeVisible();
  for (const field of [current, next, confirmation]) await expect(field).toHaveValue("");
  await page.reload();
  await expect(page).toHaveURL(/\/settings\?tab=password$/);
  await page.getByRole("button", { name: "Logout" }).click();
  await page.waitForURL(/\/(login)?$/);
  await signIn(page, { ...ada, password: "newone" });
});

test("tabs are in the URL; a flag is stored, and reverted if saving fails (G49)", async ({
  page,
  product,
  customer,
}) => {
  const flags = async () =>
    (await must(product.url, "GET", `/settings/${customer.userId}`, { token: customer.idToken })).flags;
  await page.goto("/settings");
  await page.getByRole("tab", { name: "Profile" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/\?tab=password$/);
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(/\?tab=notifications$/);
  const billing = page.getByRole("switch", { name: "Billing alerts" });
  await expect(billing).toBeChecked();
  await billing.click();
  await expect(page.getByText(updated)).toBeVisible();
  await expect(billing).not.toBeChecked();
  expect(await flags()).toMatchObject({ billingAlerts: false, emailNotifications: true });
  await page.reload();
  await expect(billing).not.toBeChecked();
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Security" }).click();
  await expect(page).toHaveURL(/\?tab=security$/);
  const security = page.getByRole("switch", { name: "Security alerts" });
  await security.click();
  await expect(security).not.toBeChecked();
  await expect.poll(flags).toMatchObject({ securityAlerts: false, twoFactorAuth: false });
  await page.getByRole("tab", { name: "Notifications" }).click();

  await page.route("**/settings/*/flags", (route) => route.abort());
  await billing.click();
  await expect(page.getByText("Failed to update user settings")).toBeVisible();
  await expect(billing).not.toBeChecked();
});
