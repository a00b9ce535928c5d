import { payInDialog, toLastStep } from "./testing/pay.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";

test("the embedded dialog leads to a page that chooses the outcome: a failure, then a success", async ({
  page,
  customer: _,
  product,
}) => {
  await page.goto(product.operatorPage("/embedded-gateway/v1/test"));
  await expect(page.getByText("From now on the payment dialog of this browser has a link")).toBeVisible();
  await expectAccessible(page);
  await toLastStep(page, `chosen-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Launch" }).click();
  const dialog = page.frameLocator("iframe");
  await dialog.getByRole("link", { name: "Choose what happens next" }).click();
  await expect(dialog.getByLabel("Fails with insufficient_fund")).toBeVisible();
  await expect(dialog.getByText("Test mode: no money moves")).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("Fails with insufficient_fund").check();
  await dialog.getByRole("button", { name: "Use it" }).click();
  await expect(dialog.getByText("The payment fails with insufficient_fund.")).toBeVisible();
  await payInDialog(page);
  await expect(dialog.getByRole("alert")).toHaveText("The card has not enough balance for this payment.");
  await dialog.getByRole("button", { name: /^Pay/ }).click();
  await expect(page.locator("iframe")).toBeHidden();
  await page.waitForURL("**/environments");
});
