import { create, must, orderAndPay, signUp } from "../../testing/customer.ts";
import { type Desk, expect, openScreen, test } from "../testing/console.ts";
import { checkScreen } from "../testing/viewports.ts";

/** A delivered order of 24 hours whose owner asked for a refund. */
async function asked({ product }: Desk, subdomain: string) {
  const customer = await signUp(product.url);
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 24 });
  expect((await create(product.url, customer, paid)).status).toBe(200);
  const order = paid.payment_data.razorpay_order_id;
  const body = { reason: "partial_downtime", text: "It was away for half a day, while my training ran." };
  await must(product.url, "POST", `/orders/${order}/refund-request`, { token: customer.idToken, body });
  return { customer, order };
}

test("a refund request is found first, shows what goes back, and is granted with a reason, a name and words", async ({
  desk,
  operator,
  page,
}) => {
  const { customer } = await asked(desk, "refund-lab");
  await openScreen(page, "/orders", "Orders and refunds");
  const request = page.getByRole("region", { name: "Refund requests" }).getByRole("row", { name: /refund-lab/ });
  await expect(request).toContainText("It did not run for a part of the time");
  await expect(page.getByRole("region", { name: "Orders" }).getByRole("row", { name: /refund-lab/ })).toContainText(
    customer.email,
  );
  await checkScreen(page, "console-orders");
  await request.getByRole("link", { name: "Decide about refund-lab" }).click();
  await expect(page.getByRole("heading", { name: "refund-lab" })).toBeVisible();
  await expect(page.getByText("You asked for a refund")).toBeVisible();
  await checkScreen(page, "console-order");

  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Refund refund-lab" });
  await expect(dialog.getByRole("radio", { name: /^Unused time: \$4\.\d\d$/ })).toBeChecked();
  await expect(dialog.getByRole("radio", { name: "All that is left: $4.80" })).toBeVisible();
  await checkScreen(page, "console-refund", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("radio", { name: "Another amount" }).click();
  await dialog.getByLabel("Amount in USD").fill("4.81");
  await dialog.getByLabel("Reason").fill("The host was away");
  await dialog.getByLabel("Type refund-lab to confirm").fill("refund-lab");
  await expect(dialog.getByText("An amount between $0.01 and $4.80")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Refund", exact: true })).toBeDisabled();
  await dialog.getByLabel("Amount in USD").fill("1.20");
  const send = dialog.getByRole("button", { name: "Refund $1.20" });
  await expect(send).toBeEnabled();
  await dialog.getByLabel("Reason").fill(" ");
  await expect(send).toBeDisabled();
  await dialog.getByLabel("Reason").fill("The host was away");
  await dialog.getByLabel("Words to the owner").fill("We are sorry.");
  await send.click();
  await expect(dialog).toHaveCount(0);
  const row = page.getByRole("region", { name: "What operators did" }).getByRole("row", { name: /refund\.grant/ });
  await expect(row).toContainText("The host was away");
  await expect(row).toContainText(operator);
  await expect(page.getByRole("complementary", { name: "Money" })).toContainText("$1.20");
  await checkScreen(page, "console-order-refunded");
  await page.getByRole("link", { name: "Orders and refunds" }).last().click();
  await expect(request).toHaveCount(0);
});

test("a request is declined with words, a receipt is sent again, and a refund that is not possible says why", async ({
  desk,
  operator: _,
  page,
}) => {
  const { customer, order } = await asked(desk, "decline-lab");
  await openScreen(page, "/orders", "Orders and refunds");
  await page.getByLabel("Id, receipt, environment").fill(order);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/find=/);
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.getByRole("link", { name: /decline-lab/ }).click();
  await page.getByRole("button", { name: "Decline" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("It ran all the time");
  await expect(dialog.getByRole("button", { name: "Decline" })).toBeDisabled();
  await dialog.getByLabel("Words to the owner").fill("It ran all the time; see the sessions.");
  await checkScreen(page, "console-decline", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("button", { name: "Decline" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText("Not granted")).toBeVisible();
  await expect(page.getByRole("button", { name: "Decline" })).toHaveCount(0);

  await page.getByRole("button", { name: "Send receipt again" }).click();
  await expect(dialog.getByRole("button", { name: "Send" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("It went to spam");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText(/^The receipt INV-\S+ is in its owner.s bell only: mail is off/)).toBeVisible();
  const mails = await desk.db.selectFrom("mails").select("subject").where("recipient", "=", customer.email).execute();
  expect(mails.map(({ subject }) => subject)).toEqual(
    expect.arrayContaining(["Refund not granted", expect.stringMatching(/^Receipt INV-/)]),
  );

  const json = { status: "error", code: "action_not_allowed", message: "It is refunding", detail: "" };
  await page.route("**/refund/preview", (route) => route.fulfill({ status: 409, json }));
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  await expect(dialog.getByRole("alert").first()).toContainText("It is refunding");
  await expect(dialog.getByRole("button", { name: "Refund", exact: true })).toBeDisabled();
});

test("an open dispute stands before the orders, with the day to answer by", async ({ operator: _, page }) => {
  const dispute = {
    ...{ gateway_dispute_id: "disp_N4x7Qm2Lk9WzTa", phase: "chargeback", reason_code: "goods_not_received" },
    ...{ amount_minor: 480, currency: "USD", order_id: "9k4q0t9w2mzp7xk4q0t9w2mzp", subdomain: "resnet-lab" },
    ...{ email: "ada@example.com", user_id: "ada", respond_by: "2999-01-31T12:00:00.000Z" },
  };
  await page.route("**/operator/api/disputes", (route) =>
    route.fulfill({ json: { status: "success", disputes: [dispute] } }),
  );
  await openScreen(page, "/orders", "Orders and refunds");
  const row = page.getByRole("region", { name: "Disputes" }).getByRole("row", { name: /resnet-lab/ });
  await expect(row).toContainText("Jan 31, 2999");
  await expect(row).toContainText("goods_not_received");
  const order = row.getByRole("link", { name: "resnet-lab, disputed" });
  await expect(order).toHaveAttribute("href", "/operator/orders/9k4q0t9w2mzp7xk4q0t9w2mzp");
  await expect(row.getByRole("link", { name: "ada@example.com" })).toHaveAttribute("href", "/operator/people/ada");
  await checkScreen(page, "console-disputes");
});

test("no order, an order that does not exist, and orders that could not be read", async ({ operator: _, page }) => {
  await openScreen(page, "/orders?find=nothing", "Orders and refunds");
  await expect(page.getByText("No order for nothing")).toBeVisible();
  await checkScreen(page, "console-orders-none");
  await page.goto("/operator/orders/none");
  await expect(page.getByRole("alert")).toContainText("There is no order none");
  const json = { status: "error", code: "forbidden", message: "Broken", detail: "" };
  await page.route("**/operator/api/orders/search", (route) => route.fulfill({ status: 403, json }));
  await page.goto("/operator/orders");
  await expect(page.getByRole("alert")).toContainText("The orders could not be read");
});
