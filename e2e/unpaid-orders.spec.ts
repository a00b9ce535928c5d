import { orderOf } from "../testing/customer.ts";
import { payInDialog } from "./testing/pay.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("an order whose tab was closed is dropped on billing, and another paid from the dashboard (G333)", async ({
  page,
  product,
  customer,
  database: { db },
}) => {
  const name = `unpaid-${Date.now().toString(36)}`;
  const unpaid = page.getByRole("region", { name: "Not paid yet" });
  const first = await orderOf(product.url, customer, { subdomain: name, gpuCount: 1, duration: 6 });
  await page.goto("/billing");
  await expect(unpaid).toContainText(`Not paid yet: ${name}, $1.20`);
  await expect(unpaid).toContainText("JupyterLab, 1 slot, 6 hours. It is kept for you until");
  await expectAccessible(page);
  await unpaid.getByRole("button", { name: "Drop it" }).click();
  await expect(page.getByText(`The order for ${name} is dropped. Nothing was charged.`)).toBeVisible();
  await expect(unpaid).toHaveCount(0);
  const statusOf = async (id: string) =>
    (await db.selectFrom("orders").select("status").where("gateway_order_id", "=", id).executeTakeFirst())?.status;
  expect(await statusOf(first.order.id)).toBe("cancelled");

  const second = await orderOf(product.url, customer, { subdomain: name, gpuCount: 1, duration: 12, currency: "INR" });
  await page.goto("/dashboard");
  await expect(unpaid).toContainText(`Not paid yet: ${name}, ₹212`);
  await checkScreen(page, "dashboard-unpaid");
  await unpaid.getByRole("link", { name: "Pay" }).click();
  await expect(page.getByRole("region", { name: "Step 4: Launch" })).toContainText(name);
  await page.getByRole("button", { name: "Launch", exact: true }).click();
  await payInDialog(page);
  await expect(page).toHaveURL(/\/environments$/, { timeout: 30_000 });
  expect(await statusOf(second.order.id)).toBe("fulfilled");
  await page.goto("/billing");
  await expect(page.getByText("Total spent")).toBeVisible();
  await expect(unpaid).toHaveCount(0);
});
