import { toLastStep } from "./testing/pay.ts";
import { linkTo } from "./testing/reset-mail.ts";
import { expect, test } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

test("with live keys the address must be confirmed before the first payment, by a link that works once (G52)", async ({
  page,
  customer,
  product,
}) => {
  test.setTimeout(90_000);
  const message = `Confirm your email first: we send a link to ${customer.email}.`;
  await page.route("**/docker/payments/create_order", (route) =>
    route.fulfill({ status: 403, json: { status: "error", code: "email_unverified", message, detail: message } }),
  );
  await toLastStep(page, `sure-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Launch" }).click();
  const send = page.getByRole("button", { name: "Send the link" });
  await expect(page.getByText(message).first()).toBeVisible();
  await checkScreen(page, "create-4-unverified", { fullPage: false });
  await send.click();
  await expect(toastOf(page, "The link is on its way. Confirm it, then launch again.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Send it again" })).toBeVisible();

  await page.goto(await linkTo(product, customer, "verify-email"));
  await checkScreen(page, "verify");
  await page.route("**/accounts:update*", (route) => route.abort());
  await page.getByRole("button", { name: "Confirm this address" }).click();
  await expect(page.getByText("did not answer")).toBeVisible();
  await page.unroute("**/accounts:update*");
  const link = page.url();
  await page.getByRole("button", { name: "Confirm this address" }).click();
  await expect(page.getByRole("heading", { name: "Your email is confirmed" })).toBeVisible();
  await checkScreen(page, "verify-done");
  await page.goto(link);
  await page.getByRole("button", { name: "Confirm this address" }).click();
  await expect(page.getByRole("heading", { name: "This link does not hold" })).toBeVisible();
  await checkScreen(page, "verify-used");
});
