import { must } from "../testing/customer.ts";
import { seedHistory } from "../testing/seed.ts";
import { payInDialog } from "./testing/pay.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";

test("an extension is chosen, paid and added without a restart; a dismissed one buys nothing (G100)", async ({
  page,
  customer,
  product,
}) => {
  const prefix = `more-${Date.now().toString(36)}`;
  await seedHistory(product, customer, { count: 1, prefix });
  const rented = async () => {
    const { user_data } = await must(product.url, "GET", `/profile/${customer.userId}`, { token: customer.idToken });
    const [[id, { expires_at, status }]] = Object.entries(user_data.containers) as [
      [string, { expires_at: string; status: string }],
    ];
    return { id, status, endsAt: Date.parse(expires_at) };
  };
  const before = await rented();
  await page.goto("/environments");
  const menu = page.getByRole("button", { name: /^More actions/ });
  await menu.click();
  await page.getByRole("menuitem", { name: "Add time" }).click();
  await expect(page).toHaveURL(new RegExp(`extend=${before.id}`));
  const dialog = page.getByRole("dialog", { name: /^Add time to/ });
  await expect(dialog.getByRole("radio", { name: /^1 hour,/ })).toBeChecked();
  await dialog
    .getByRole("group", { name: "Time to add" })
    .getByRole("radio", { name: /^6 hours,/ })
    .click();
  await expectAccessible(page);
  const pay = dialog.getByRole("button", { name: /^Pay \$/ });
  await pay.click();
  const checkout = page.frameLocator("iframe");
  await expect(checkout.getByLabel("Card number")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.locator("iframe")).toBeHidden();
  await expect(toastOf(page, "Payment cancelled. Cleaning up...")).toBeVisible();
  await expect(dialog.getByRole("radio", { name: /^6 hours,/ })).toBeChecked();
  await expect(pay).toBeEnabled();
  expect(await rented()).toEqual(before);

  await pay.click();
  await payInDialog(page);
  await expect(toastOf(page, "6 hours added to")).toBeVisible();
  await expect(dialog).toBeHidden();
  await expect(page).not.toHaveURL(/extend=/);
  expect(await rented()).toEqual({ ...before, endsAt: before.endsAt + 6 * 3_600_000 });
  await page.goto(`/environments/${before.id}`);
  await expect(page.getByRole("complementary", { name: "About this environment" })).toContainText(/Booked\s*726 hours/);
});

test("the extension dialog opens by URL, but not for an ended environment (G100)", async ({
  page,
  customer,
  product,
  database: { db },
}) => {
  await seedHistory(product, customer, { count: 1, prefix: `late-${Date.now().toString(36)}` });
  const { user_data } = await must(product.url, "GET", `/profile/${customer.userId}`, { token: customer.idToken });
  const [id] = Object.keys(user_data.containers);
  await page.goto(`/environments?search=late&extend=${id}`);
  const dialog = page.getByRole("dialog", { name: /^Add time to/ });
  await expect(dialog).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page).toHaveURL(/\/environments\?search=late$/);
  await db
    .updateTable("environments")
    .set({ status: "terminated", desired: "terminated", ended_reason: "operator", terminated_at: new Date() })
    .where("user_id", "=", customer.userId)
    .execute();
  await page.goto(`/environments?extend=${id}`);
  await expect(page.getByRole("row", { name: /late-/ })).toContainText("Terminated");
  await expect(dialog).toBeHidden();
});

test("an extension paid after the end shows its failure in the dialog (G100)", async ({
  page,
  customer,
  product,
  database: { db },
}) => {
  await seedHistory(product, customer, { count: 1, prefix: `gone-${Date.now().toString(36)}` });
  await page.goto("/environments");
  await page.getByRole("button", { name: /^More actions/ }).click();
  await page.getByRole("menuitem", { name: "Add time" }).click();
  const dialog = page.getByRole("dialog", { name: /^Add time to/ });
  await dialog.getByRole("button", { name: /^Pay \$/ }).click();
  await expect(page.frameLocator("iframe").getByLabel("Card number")).toBeFocused();
  await db
    .updateTable("environments")
    .set({ status: "terminated", desired: "terminated", ended_reason: "operator", terminated_at: new Date() })
    .where("user_id", "=", customer.userId)
    .execute();
  await payInDialog(page);
  await expect(dialog.getByRole("alert")).toContainText("could not be extended");
  await expect(page.getByRole("row", { name: /gone-/ })).toContainText("Terminated");
  await expect(dialog.getByRole("alert")).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(dialog).toBeHidden();
});
