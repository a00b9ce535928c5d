import type { Page } from "@playwright/test";
import { sql } from "kysely";
import type { Database } from "../server/src/database/database.ts";
import { declineRefund } from "../server/src/payments/refunds/grant-refund.ts";
import { create, orderAndPay } from "../testing/customer.ts";
import { payInDialog, toLastStep } from "./testing/pay.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { toastOf } from "./testing/toasts.ts";
import { checkScreen } from "./testing/viewports.ts";

const facts = (page: Page) => page.getByRole("region", { name: "What happened" }).getByRole("listitem");
const money = (page: Page, title: string | RegExp) => page.getByRole("status").getByRole("heading", { name: title });

/** Launches of this user never become ready, and refunds are held until released. */
async function failLaunches({ db }: Database, userId: string) {
  await sql`
    create function fail_launch() returns trigger language plpgsql as $$ begin
      if new.user_id = ${sql.lit(userId)} then
        new.give_up_at := now() - interval '1 second';
        new.first_attempt_at := now();
      end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger fail_launch before insert on environments for each row execute function fail_launch()`.execute(
    db,
  );
  await sql`
    create function hold_refund() returns trigger language plpgsql as $$ begin
      new.arrives_at := now() + interval '1 hour';
      return new;
    end $$`.execute(db);
  await sql`create trigger hold_refund before insert on embedded_gateway_refunds for each row execute function hold_refund()`.execute(
    db,
  );
  return {
    async letArrive() {
      await sql`update embedded_gateway_refunds set arrives_at = now()`.execute(db);
      await sql`update refunds set due_at = now(), lease_token = null, lease_expires_at = null where status <> 'processed'`.execute(
        db,
      );
    },
    async [Symbol.asyncDispose]() {
      await sql`drop function if exists fail_launch, hold_refund cascade`.execute(db);
    },
  };
}

test("a failed launch leads to its order, which shows the refund from start to arrival (G14, G15, G16)", async ({
  page,
  customer,
  database,
}) => {
  await using refunds = await failLaunches(database, customer.userId);
  const name = `failed-${Date.now().toString(36)}`;
  await toLastStep(page, name);
  await page.getByRole("button", { name: "Launch" }).click();
  await payInDialog(page);
  await expect(page.getByText("This environment could not be started")).toBeVisible({ timeout: 30_000 });
  await page.getByRole("link", { name: "See the order" }).click();
  await expect(page).toHaveURL(/\/billing\/orders\/order_\w+$/);
  await expect(money(page, "$0.40 is on its way back to your card")).toBeVisible();
  await expect(facts(page)).toHaveText([
    /^Ordered/,
    /^Paid\$0\.40/,
    /^Not delivered/,
    /^Refund started\$0\.40: the environment was not delivered/,
    /^2 hours owed to you/,
    /^With the payment provider\$0\.40, on your card by \w{3} \d+, \d{4}Now$/,
  ]);
  await expectAccessible(page);
  await page.evaluate(() => Object.assign(window, { before: true }));

  await refunds.letArrive();
  await expect(money(page, "$0.40 went back to your card")).toBeVisible({ timeout: 20_000 });
  await expect(facts(page).last()).toHaveText(/^Sent to your bank\$0\.40, on your card by .*Bank reference \w+/);
  await expect(page.getByRole("button", { name: /^\w+, copy bank reference$/ })).toHaveCount(2);
  expect(await page.evaluate(() => "before" in window), "without a reload").toBe(true);
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: /^Credit note CRN-/ }).click();
  expect((await coming).suggestedFilename()).toMatch(/^CRN-[0-9a-z]{11}\.pdf$/);

  await page.getByRole("button", { name: /^Notifications/ }).click();
  for (const title of ["Refund started", "Refund sent"])
    await expect(page.getByRole("dialog").getByRole("link", { name: title })).toHaveAttribute(
      "href",
      /^\/billing\/orders\/[0-9a-z]{25}$/,
    );
  await page.getByRole("dialog").getByRole("link", { name: "Refund sent" }).click();
  await expect(page).toHaveURL(/\/billing\/orders\/[0-9a-z]{25}$/);
  await expect(money(page, "$0.40 went back to your card")).toBeVisible();
});

test("a refund request keeps its text on failure, is sent, and its decision is shown on the page (G68)", async ({
  page,
  product,
  customer,
  database: { db },
}) => {
  const subdomain = `asked-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 });
  await create(product.url, customer, paid);
  const orderId = paid.payment_data.razorpay_order_id;
  await page.goto(`/billing/orders/${orderId}`);
  await page.getByRole("button", { name: "Ask for a refund" }).click();
  const dialog = page.getByRole("dialog", { name: "Ask for a refund" });
  const send = dialog.getByRole("button", { name: "Ask for a refund" });
  await send.click();
  await expect(dialog.getByText("Choose what happened")).toBeVisible();
  await expect(dialog.getByText("Say in a sentence when, and what was lost")).toBeVisible();
  await checkScreen(page, "order-ask", { fullPage: false, stays: "[role=dialog]" });
  await dialog.getByRole("combobox", { name: "What happened" }).click();
  await checkScreen(page, "order-ask-reasons", { fullPage: false, stays: "[role=option]" });
  await page.getByRole("option", { name: "It did not run for a part of the time" }).click();
  const words = "It was gone from ten to eleven <b>today</b>.";
  await dialog.getByRole("textbox", { name: "When, and what was lost" }).fill(words);
  await expect(dialog.getByText(`${words.length}/1000`)).toBeVisible();
  await page.route("**/refund-request", (route) => route.abort());
  await send.click();
  await expect(dialog.getByText("No answer from the server. Your words are kept; try again.")).toBeVisible();
  await expect(dialog.getByRole("textbox", { name: "When, and what was lost" })).toHaveValue(words);
  await page.unroute("**/refund-request");
  await send.click();
  await expect(dialog).toBeHidden();
  await expect(toastOf(page, "Your request is kept. The answer comes by bell and mail.")).toBeVisible();
  await expect(facts(page).last()).toContainText(`You asked for a refund“${words}”`);
  await expect(page.getByRole("button", { name: "Ask for a refund" })).toBeHidden();
  const announce = async () => {};
  await declineRefund({
    db,
    announce,
    author: { actor: "cli:test", reason: "" },
    orderId,
    message: "It answered all the time.",
  });
  await page.reload();
  await expect(facts(page).last()).toContainText("Not granted“It answered all the time.”");
  await expect(page.getByRole("button", { name: "Ask for a refund" })).toBeVisible();
});
