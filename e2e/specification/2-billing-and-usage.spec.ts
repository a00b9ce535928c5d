import { create, must, orderAndPay } from "../../testing/customer.ts";
import { expect, expectAccessible, test } from "../testing/test.ts";

test("payments are shown in cards, charts, breakdown and history, with the tab in the URL (2, 3, G17, G70)", async ({
  page,
  product,
  customer: ada,
}) => {
  test.setTimeout(150_000);
  const stamp = Date.now().toString(36);
  const requests = [
    { subdomain: `first-${stamp}`, gpuCount: 1, duration: 6 },
    { subdomain: `second-${stamp}`, gpuCount: 1, duration: 12, currency: "INR" },
  ] as const;
  const paid = [];
  for (const request of requests) {
    paid.push(await orderAndPay(product.url, ada, request));
    expect((await create(product.url, ada, paid.at(-1) as (typeof paid)[number])).body.status).toBe("active");
  }
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/billing");
  await expect(page.getByText("Billing data loaded successfully")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1, name: "Billing and Usage" })).toBeVisible();

  const card = (label: string) => page.locator("dl.panel > div").filter({ hasText: label });
  await expect(card("This month")).toContainText("$3.60");
  await expect(card("This month")).not.toContainText(/up on/);
  await expect(card("Total spent")).toContainText("$3.60");
  await expect(card("Payments")).toContainText("2");

  const line = page.getByRole("img", { name: /^Monthly spending: .*\$0\.00.*\$3\.60$/ });
  const bars = page.getByRole("img", { name: /^Payments per month: .* 2$/ });
  for (const [chart, height] of [
    [line, 300],
    [bars, 250],
  ] as const)
    expect((await chart.boundingBox())?.height).toBeCloseTo(height, 0);
  await expect(line.locator("circle")).toHaveCount(6);
  await page.getByText("Figures by month").click();
  await expect(page.getByRole("row", { name: /\$3\.60 2 \$1\.80/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /^JupyterLab 18\.0 0\.\d 100% \$3\.60/ })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Payment History" }).click();
  await expect(page).toHaveURL(/\/billing\?tab=invoices$/);
  await page.reload();
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("jupyter Environment");
  await expect(rows.first()).toContainText(/INV-[0-9a-z]{11}/);
  await expect(rows.first()).toContainText("12 hours");
  await expect(rows.first()).toContainText("₹212");
  // A badge has a ground of its own.
  const badge = rows.first().getByText("Paid", { exact: true });
  await expect(badge).not.toHaveCSS("background-color", "rgba(0, 0, 0, 0)");
  await expect(rows.last()).toContainText("$1.20");
  const reference = paid[1]?.payment_data.razorpay_payment_id ?? "";
  await rows
    .first()
    .getByRole("button", { name: `${reference}, copy payment reference` })
    .click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(reference);
  const { invoices } = await must(product.url, "GET", `/billing/${ada.userId}`, { token: ada.idToken });
  await expect(rows.first()).toContainText(invoices[0].session_id);
  await expectAccessible(page);
});

test("without payments all four texts are shown and no chart is loaded (2)", async ({ page, customer }) => {
  expect(customer.userId).not.toBe("");
  const charts: string[] = [];
  page.on("request", (request) => void (request.url().includes("spending-charts") && charts.push(request.url())));
  await page.goto("/billing");
  for (const sentence of [
    "No spending data available yet",
    "No payment frequency data available yet",
    "No usage data available yet",
  ])
    await expect(page.getByText(sentence)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("tab", { name: "Payment History" }).click();
  await expect(page.getByText("No payment history available")).toBeVisible();
  await expectAccessible(page);
  expect(charts).toEqual([]);
});
