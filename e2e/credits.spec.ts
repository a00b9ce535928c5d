import { createVouchers } from "../server/src/operator/people/vouchers.ts";
import { toLastStep } from "./testing/pay.ts";
import { expect, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("a voucher is redeemed on the billing page, after a wrong code, and step 3 says what it adds (G153, G155)", async ({
  page,
  customer: _,
  database: { db },
}) => {
  const kind = { gpuHours: 20, count: 1, perMonth: undefined, expiresAt: undefined };
  const { codes } = await createVouchers(db, kind, { actor: "cli:test", reason: "Course" });
  const [code = ""] = codes;
  await page.goto("/billing");
  const field = page.getByLabel("Voucher code");
  const redeem = page.getByRole("button", { name: "Redeem" });
  await redeem.click();
  await expect(page.getByText("Type the code of your voucher")).toBeVisible();
  await field.fill("AAAAA-AAAAA-AAAAA-AAAAA");
  await redeem.click();
  await expect(page.getByText("There is no such code")).toBeVisible();
  await expect(field).toHaveValue("AAAAA-AAAAA-AAAAA-AAAAA");
  await field.fill(code.toLowerCase());
  await field.press("Enter");
  await expect(page.getByText("20 hours with 1 slot, 10 hours with 2")).toBeVisible();
  await expect(field).toHaveValue("");
  await field.fill("AAAAA-AAAAA-AAAAA-AAAAA");
  await redeem.click();
  await expect(page.getByText("There is no such code")).toBeVisible();
  await checkScreen(page, "billing-credits");
  await page.goto("/environments/create");
  const next = page.getByRole("button", { name: "Continue" });
  await next.click();
  await expect(page.getByRole("region", { name: "Step 2: Resources" })).toBeVisible();
  await next.click();
  await expect(page.getByText(/Your credit adds \d+/)).toBeVisible();
});

/** Goes back in the moment in which the page leads to the list of environments. */
function backFromList(): Promise<void> {
  return new Promise((resolve) => {
    const push = history.pushState.bind(history);
    history.pushState = (data, unused, url) => {
      push(data, unused, url);
      if (!String(url).endsWith("/environments")) return;
      history.back();
      resolve();
    };
  });
}

test("hours of a code start an environment without a payment, from the code to its page (G332)", async ({
  page,
  customer: _,
  database: { db },
}) => {
  const kind = { gpuHours: 3, count: 1, perMonth: undefined, expiresAt: undefined, alone: true };
  const { codes } = await createVouchers(db, kind, { actor: "cli:test", reason: "Course" });
  await page.goto("/billing");
  await page.getByLabel("Voucher code").fill(codes[0] ?? "");
  await page.getByRole("button", { name: "Redeem" }).click();
  await expect(page.getByText("Starts an environment without a payment")).toBeVisible();
  await toLastStep(page, "free-lab");
  await page.goto("/environments/create?step=2");
  await page.getByRole("radio", { name: /^1 slot,/ }).click();
  for (const next of [3, 4]) {
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page.getByRole("region", { name: `Step ${next}:` })).toBeVisible();
  }
  await expect(page.getByText("Your code covers it: Launch starts it at once.")).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Order" })).toContainText("$0.00");
  await expect(page.getByText("Code accepted")).toBeVisible();
  await expect(page.getByText("Payment confirmed")).toHaveCount(0);
  await checkScreen(page, "launch-covered");
  // Without an answer it asks again, as after a payment (G302).
  await page.route("**/credits/launch", (route) => route.abort(), { times: 1 });
  // Back leads to its choices (G336), even before the list is drawn.
  const wentBack = page.evaluate(backFromList);
  await page.getByRole("button", { name: "Launch", exact: true }).click();
  await wentBack;
  await expect(page.getByRole("region", { name: "Step 3: Review" })).toBeVisible();
  await expect(page.getByRole("complementary", { name: "Order" })).toContainText("$0.20 per hour");
  const order = db.selectFrom("orders").select(["id", "amount_minor"]).where("subdomain", "=", "free-lab");
  const { id, amount_minor } = await order.executeTakeFirstOrThrow();
  expect(amount_minor).toBe(0);
  await page.goto(`/billing/orders/${id}`);
  await expect(page.getByRole("status").filter({ hasText: "Nothing to pay" })).toBeVisible();
  await checkScreen(page, "order-covered");
  await page.goto("/environments");
  await page.getByRole("link", { name: "free-lab", exact: true }).click();
  await expect(page.getByText(/^Stop: memory goes, files stay, and \S+ \S+ stays yours\.$/)).toBeVisible();
  await expect(page.getByText("Code accepted")).toBeVisible();
  await checkScreen(page, "environment-covered");
  await page.goto("/dashboard");
  await expect(page.getByText(/^booked, \d+\.\d run$/)).toBeVisible();
});
