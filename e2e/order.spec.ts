import type { Page } from "@playwright/test";
import { create, must, orderAndPay, orderOf, payByUpi, signUp } from "../testing/customer.ts";
import { ordersByMoney, showOrder } from "./testing/orders.ts";
import { toLastStep } from "./testing/pay.ts";
import { fullStatement } from "./testing/statement.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { advanceUntilVisible } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

const facts = (page: Page) => page.getByRole("region", { name: "What happened" }).getByRole("listitem");
const money = (page: Page, title: string | RegExp) => page.getByRole("status").getByRole("heading", { name: title });

test("an order's page opens from Payment History with its money, timeline, references and receipt (G14, G70)", async ({
  page,
  product,
  customer,
}) => {
  const subdomain = `order-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1, duration: 6, currency: "INR" });
  expect((await create(product.url, customer, paid)).body.status).toBe("active");
  const { invoices } = await must(product.url, "GET", `/billing/${customer.userId}`, { token: customer.idToken });
  const [{ number, order_id, session_id, payment_reference }] = invoices;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);

  await page.goto("/billing?tab=invoices");
  await page.getByRole("link", { name: `jupyter Environment, details of ${number}` }).click();
  await expect(page).toHaveURL(new RegExp(`/billing/orders/${order_id}$`));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Order");
  await expect(page).toHaveTitle(`Order ${number} · Berth`);
  await expect(money(page, "₹106 is paid, and delivered")).toBeVisible();
  await expect(facts(page)).toHaveText([
    /^Ordered₹106 for 6 hours\w{3} \d+, \d+:\d\d [AP]M$/,
    /^Paid₹106, MasterCard ending in 4444/,
    /^ReadyJupyterLab answered; the paid time runs from here\./,
  ]);
  const order = page.getByRole("complementary", { name: "Order" });
  for (const text of ["Delivered", subdomain, "JupyterLab", "1 slot", "6 hours", "$1.20", "1 USD = ₹88.22", "₹106"])
    await expect(order.getByText(text, { exact: true }).first()).toBeVisible();
  for (const [value, label] of [
    [number, "invoice number"],
    [payment_reference, "payment reference"],
    [session_id, "session ID"],
    [order_id, "order reference"],
  ]) {
    await page.getByRole("button", { name: `${value}, copy ${label}` }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(value);
  }
  await expectAccessible(page);
  const coming = page.waitForEvent("download");
  await order.getByRole("button", { name: `Receipt ${number}` }).click();
  expect((await coming).suggestedFilename()).toBe(`${number}.pdf`);

  await page.emulateMedia({ media: "print" });
  await expect(page.getByText(`${customer.email}, Berth (`)).toBeVisible();
  await expect(money(page, "₹106 is paid, and delivered")).toBeVisible();
  for (const hidden of ["Payment History", "Get support"]) await expect(page.getByText(hidden)).toBeHidden();
  await page.emulateMedia({ media: "screen" });

  await page.goto(`/billing/orders/${paid.payment_data.razorpay_order_id}`);
  await expect(page.getByRole("button", { name: `${order_id}, copy order reference` })).toBeVisible();
  await page.getByRole("link", { name: "Get support" }).click();
  await expect(page.getByRole("textbox", { name: "Description" })).toHaveValue(
    `Session ID: ${session_id}\nPayment reference: ${payment_reference}\n\n`,
  );
});

test("paid by UPI in rupees, by keyboard at 390 px: the order says so, one that waits too, and rupees are chosen next time (G365, G366, G368)", async ({
  page,
  product,
  customer,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await toLastStep(page, `upi-${Date.now().toString(36)}`);
  await page.goBack();
  await page.getByRole("radio", { name: "USD" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText("One payment by UPI, card, netbanking or wallet.")).toBeVisible();
  await page.getByRole("button", { name: "Continue" }).press("Enter");
  await page.getByRole("button", { name: "Launch" }).press("Enter");
  const dialog = page.frameLocator("iframe");
  await expect(dialog.getByLabel("UPI ID")).toBeFocused();
  await expect(dialog.getByRole("radio", { name: "UPI" })).toBeChecked();
  await expectAccessible(page);
  await page.keyboard.type("success@razorpay");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/environments", { timeout: 60_000 });
  const { invoices } = await must(product.url, "GET", `/billing/${customer.userId}`, { token: customer.idToken });
  await page.goto(`/billing/orders/${invoices[0].order_id}`);
  await expect(page.getByRole("complementary", { name: "Order" })).toContainText("Paid withUPI, su***@razorpay");
  await checkScreen(page, "order-upi");

  const waiting = { subdomain: `waits-${Date.now().toString(36)}`, gpuCount: 1, currency: "INR" } as const;
  const { order } = await orderOf(product.url, customer, waiting);
  await payByUpi(product.url, order, "pending@razorpay");
  await must(product.url, "POST", `/docker/payments/clear/${order.id}`, { token: customer.idToken, body: {} });
  await page.goto(`/billing/orders/${order.id}`);
  await expect(money(page, /^₹.* is being checked$/)).toBeVisible();
  await expect(page.getByText("The payment waits for your approval in your UPI app.")).toBeVisible();
  await expect(facts(page).last()).toContainText("waiting for your approval in your UPI app");

  await toLastStep(page, `next-${Date.now().toString(36)}`);
  await page.goBack();
  await expect(page.getByRole("radio", { name: "INR" })).toBeChecked();
});

test("another account's order and an unknown one show the same page, with a link back", async ({
  page,
  product,
  customer: _,
}) => {
  const ben = await signUp(product.url);
  const { order } = await orderOf(product.url, ben, { subdomain: `ben-${Date.now().toString(36)}` });
  for (const id of [order.id, "order_AAAAAAAAAAAAAA", "0".repeat(25), "%F0%9F%9A%80"]) {
    await page.goto(`/billing/orders/${id}`);
    await expect(page.getByRole("heading", { name: "There is no such order" })).toBeVisible();
    await expect(page).toHaveTitle("Order · Berth");
  }
  await page.getByRole("main").getByRole("link", { name: "Payment History" }).last().click();
  await expect(page).toHaveURL(/\/billing\?tab=invoices$/);
  await page.evaluate(() => localStorage.clear());
  await page.goto(`/billing/orders/${order.id}`);
  await expect(page).toHaveURL(/\/login/);
});

test("an unreadable order shows an error with a link; a loaded one stays when a refetch fails", async ({
  page,
  customer: _,
}) => {
  await page.route("**/orders/*", (route) =>
    route.request().resourceType() === "document" ? route.continue() : route.abort(),
  );
  await page.clock.install();
  await page.goto("/billing/orders/9k4q0t9w2mzp7xk4q0t9w2mzp");
  await advanceUntilVisible(page, page.getByText("Unable to load this order"));
  await expect(page.getByText("Your money and your environments are not affected.")).toBeVisible();
  await showOrder(page, ordersByMoney["started"] as (typeof ordersByMoney)[string]);
  await page.getByRole("button", { name: "Try Again" }).click();
  await expect(money(page, "$2.40 is on its way back to your card")).toBeVisible();
});

test("the keyboard reaches back, earlier attempts, every reference, receipts and support", async ({
  page,
  customer: _,
}) => {
  await showOrder(page, ordersByMoney["many"] as (typeof ordersByMoney)[string]);
  await page.goto("/billing/orders/9k4q0t9w2mzp7xk4q0t9w2mzp");
  await expect(money(page, "$2.40 is still owed to you")).toBeVisible();
  await expect(page.getByText("Payment failed", { exact: true }).filter({ visible: true })).toHaveCount(1);
  await page.getByRole("main").focus();
  const reached: string[] = [];
  const open = page.getByText("19 earlier payments failed");
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focus = page.locator(":focus");
    if ((await page.getByRole("main").locator(":focus").count()) === 0) break;
    const { outlineStyle } = await focus.evaluate((element) => getComputedStyle(element));
    reached.push((await focus.getAttribute("aria-label")) ?? (await focus.innerText()));
    expect(outlineStyle, reached.at(-1)).not.toBe("none");
    if (await open.evaluate((element) => element === document.activeElement)) await page.keyboard.press("Enter");
  }
  expect(reached).toEqual([
    "Payment History",
    "19 earlier payments failed",
    ...Array.from({ length: 20 }, (_, index) => `pay_${index}x7Qm2Lk9WzTa, copy payment reference`),
    "pay_R3x7Qm2Lk9WzTa, copy payment reference",
    ...[1, 2, 3, 4].map((index) => `7420193846501${index}, copy bank reference`),
    "a-name-of-forty-characters-is-the-longest",
    ...["Receipt INV-94kq0t9w2mz", "Receipt INV-84kq0t9w2mz", "Ask for a refund", "Get support"],
    "INV-94kq0t9w2mz, copy invoice number",
    "pay_R1x7Qm2Lk9WzTa, copy payment reference",
    "s94kq0t9w2mzp7xk4q0t9w2mz, copy session ID",
    "9k4q0t9w2mzp7xk4q0t9w2mzp, copy order reference",
    ...[4, 3, 2, 1].map((index) => `7420193846501${index}, copy bank reference`),
  ]);
});

test("Payment History on a phone aligns amount, status and duration, and its links are large enough for touch", async ({
  page,
  customer,
}) => {
  await page.route(`**/billing/${customer.userId}`, (route) => route.fulfill({ json: fullStatement }));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/billing?tab=invoices");
  const row = page.locator("tbody tr").first();
  const end = await row.evaluate((element) => element.getBoundingClientRect().right);
  for (const cell of ["amount", "status", "duration"]) {
    const edges = await row.locator(`[data-cell=${cell}]`).evaluate((element) => {
      const words = document.createRange();
      words.selectNodeContents(element);
      return words.getBoundingClientRect().right;
    });
    expect(edges, cell).toBeCloseTo(end, 0);
  }
  const box = await row.getByRole("link", { name: /^pytorch Environment/ }).boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(40);
});
