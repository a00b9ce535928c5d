import { readFileSync } from "node:fs";
import { create, must, orderAndPay, until } from "../testing/customer.ts";
import { expect, expectAccessible, test } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";

test("a receipt downloads under its number, shows busy and failure, and support gets the row's identifiers (G70, G86)", async ({
  page,
  product,
  customer: ada,
}) => {
  const subdomain = `paid-${Date.now().toString(36)}`;
  const paid = await orderAndPay(product.url, ada, { subdomain, gpuCount: 1, duration: 6, currency: "INR" });
  const { environment_id: id } = (await create(product.url, ada, paid)).body;
  await page.goto("/billing?tab=invoices");
  const row = page.locator("tbody tr").first();
  const [{ number, session_id, payment_reference }] = (
    await must(product.url, "GET", `/billing/${ada.userId}`, { token: ada.idToken })
  ).invoices;

  let held = true;
  await page.route("**/receipts/*.pdf", async (route) => {
    await expect.poll(() => held).toBe(false);
    await route.continue();
  });
  await row.getByRole("button", { name: `Receipt ${number}` }).click();
  const busy = row.getByRole("button", { name: `Preparing receipt ${number}` });
  await expect(busy).toHaveAttribute("aria-disabled", "true");
  await expect(busy).toBeFocused();
  const coming = page.waitForEvent("download");
  held = false;
  const download = await coming;
  expect(download.suggestedFilename()).toBe(`${number}.pdf`);
  const bytes = readFileSync(await download.path());
  expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
  expect(bytes.subarray(-6).toString()).toContain("%%EOF");
  await expect(row.getByRole("button", { name: `Receipt ${number}` })).toBeFocused();
  await expectAccessible(page);
  await checkScreen(page, "history");
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.unroute("**/receipts/*.pdf");
  await page.route("**/receipts/*.pdf", (route) => route.abort());
  await row.getByRole("button", { name: `Receipt ${number}` }).click();
  const failed = page.getByRole("alert").filter({ hasText: "The receipt could not be fetched." });
  await expect(failed).toContainText("Network error. Please check your connection and try again.");
  await page.unroute("**/receipts/*.pdf");
  const again = page.waitForEvent("download");
  await failed.getByRole("button", { name: "Try Again" }).click();
  expect((await again).suggestedFilename()).toBe(`${number}.pdf`);

  const table = page.waitForEvent("download");
  await page.getByRole("button", { name: "All payments (CSV)" }).click();
  expect((await table).suggestedFilename()).toBe("payments.csv");
  expect(readFileSync(await (await table).path(), "utf8")).toContain(
    `,payment,paid,106.00,INR,${number},${subdomain},`,
  );

  await row.getByRole("link", { name: `Get support for ${number}` }).click();
  const description = page.getByRole("textbox", { name: "Description" });
  const filled = `Session ID: ${session_id}\nPayment reference: ${payment_reference}\n\n`;
  await expect(description).toHaveValue(filled);
  await expect(page.getByRole("combobox", { name: "Issue type" })).toHaveValue(/Payment/);

  await must(product.url, "POST", `/environments/${id}/terminate`, {
    token: ada.idToken,
    body: { confirm: subdomain },
  });
  await until("the end", async () => {
    const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: ada.idToken });
    return environment.status === "terminated";
  });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/environments");
  await expect(
    page
      .getByRole("row", { name: new RegExp(subdomain) })
      .getByText("Terminated")
      .last(),
  ).toBeVisible();
  // The row has only its label; its page has the actions.
  await page.getByRole("link", { name: subdomain, exact: true }).click();
  const menu = page.getByRole("button", { name: `More actions for ${subdomain}` });
  for (const [item, value] of [
    ["Copy session ID", session_id],
    ["Copy payment reference", payment_reference],
  ]) {
    await menu.click();
    await page.getByRole("menuitem", { name: item }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(value);
  }
  // By keyboard.
  await menu.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menuitem", { name: "Copy payment reference" })).toBeEnabled();
  await expectAccessible(page);
  const support = page.getByRole("menuitem", { name: "Get support" });
  await expect(page.getByRole("menuitem", { name: "Copy session ID" })).toBeFocused();
  for (const _ of [1, 2]) await page.keyboard.press("ArrowDown");
  await expect(support).toBeFocused();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/support?issue=container_issues&*");
  await expect(description).toHaveValue(filled);
});

test("printed Billing shows the payment history, black on white, without sidebar and buttons", async ({
  page,
  product,
  customer: ada,
}) => {
  const stamp = Date.now().toString(36);
  for (const currency of ["USD", "INR"] as const)
    await create(
      product.url,
      ada,
      await orderAndPay(product.url, ada, {
        subdomain: `paper-${currency.toLowerCase()}-${stamp}`,
        gpuCount: 1,
        currency,
      }),
    );
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/billing");
  await expect(page.getByRole("img", { name: /^Monthly spending/ })).toBeVisible();

  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await expect(page.getByRole("heading", { name: "Payment history" })).toBeVisible();
  await expect(page.getByText(`${ada.email}, Berth (`)).toBeVisible();
  await expect(page.locator("tbody tr")).toHaveCount(2);
  for (const text of ["₹18", "$0.20", "jupyter Environment"]) await expect(page.getByText(text).first()).toBeVisible();
  for (const hidden of [
    page.getByRole("complementary"),
    page.getByRole("banner"),
    page.getByRole("tab"),
    page.getByRole("link"),
    page.getByRole("button", { name: /receipt|notifications/i }),
    page.getByRole("img"),
    page.locator("svg:visible"),
  ])
    await expect(hidden).toHaveCount(0);
  const colours = await page.evaluate(() => {
    const { backgroundColor, color } = getComputedStyle(document.body);
    return { backgroundColor, color };
  });
  expect(colours).toEqual({ backgroundColor: "rgb(255, 255, 255)", color: "rgb(0, 0, 0)" });

  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  await expect(page.getByRole("tab", { name: "Overview" })).toHaveAttribute("aria-selected", "true");
});
