import { rmSync } from "node:fs";
import { pricesAt } from "@berth/contract";
import { oldWordsIn, otherCatalogue } from "@berth/contract/testing/other-catalogue";
import { writeCatalogue } from "../server/src/config/testing/write-catalogue.ts";
import { type Customer, create, must, orderAndPay, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { test as base, expect } from "./testing/test.ts";
import { checkScreen } from "./testing/viewports.ts";
import { visit } from "./testing/visit.ts";

const test = base.extend<object, { readonly product: Product }>({
  product: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const { file, folder } = writeCatalogue(otherCatalogue);
      const product = await startProduct({ env: { RUNTIME: "fake", CATALOGUE: file } });
      await until("both types to be prepared", async () => {
        const types: { type: string; state: string }[] = (await must(product.url, "GET", "/capacity")).types;
        return types.map(({ type, state }) => `${type} ${state}`).join() === "jupyter ready,vision ready";
      });
      await use(product);
      await product.stop();
      removeFolder(product.dataDir);
      rmSync(folder, { recursive: true });
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

async function rent(url: string, customer: Customer) {
  const prices = pricesAt(otherCatalogue, new Date());
  const order = { subdomain: "other-lab", type: "vision", gpuCount: 2, duration: 3, currency: "EUR", prices };
  const paid = await orderAndPay(url, customer, order);
  const { body } = await create(url, customer, paid);
  return { id: body.environment_id as string, orderId: paid.payment_data.razorpay_order_id };
}

test("with another catalogue every signed-in screen follows it (G125-G128)", async ({ page, product, customer }) => {
  const { id, orderId } = await rent(product.url, customer);
  const screens = [
    ["/dashboard", "Vision"],
    ["/environments", "Vision"],
    [`/environments/${id}`, "Vision"],
    ["/environments/create", "Plain Lab"],
    ["/environments/create?step=2", "Totals for 2 slots"],
    ["/environments/create?step=3", "$2.17"],
    ["/billing", "Vision"],
    ["/billing?tab=invoices", "€5.92"],
    [`/billing/orders/${orderId}`, "1 USD = €0.91"],
    ["/support", "Quick"],
  ] as const;
  await page.goto("/dashboard");
  for (const [path, word] of screens) {
    await visit(page, path);
    await expect(page.getByText(word).first(), path).toBeVisible();
    expect(oldWordsIn(await page.locator("body").innerText()), path).toEqual([]);
  }
});

test("announced prices are named in step 3 and on the billing page, with their day (G152)", async ({
  page,
  customer: _,
}) => {
  await page.goto("/environments/create?step=3");
  await expect(page.getByText("New prices begin on January 1, 2999. This choice costs the same then.")).toBeVisible();
  await page.goto("/billing");
  const coming = page.getByRole("region", { name: "Prices from January 1, 2999" });
  await expect(coming.getByRole("row", { name: "1 slot $1.40 now $1.13 $810.00 now $703.00" })).toBeVisible();
  await expect(coming.getByText("EUR at €0.95 for a dollar, now €0.91.")).toBeVisible();
  await checkScreen(page, "billing-coming");
});

test("with another catalogue the public pages are served with its words, before and after the app has loaded", async ({
  page,
  product: { url },
}) => {
  for (const path of ["/", "/terms-condition", "/legal-compliance", "/status"]) {
    const html = await (await page.request.get(`${url}${path}`, { headers: { accept: "text/html" } })).text();
    const read = html.replace(/<style.*?<\/style>/gs, "");
    expect(read, path).toContain("L40S");
    expect(oldWordsIn(read), path).toEqual([]);
  }
  await page.goto("/status");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  expect(oldWordsIn(await page.locator("body").innerText())).toEqual([]);
  await page.goto("/terms-condition");
  await expect(
    page.getByText("Version 1.2, from January 1, 2999: Sessions end after 100 hours.").first(),
  ).toBeVisible();
  await checkScreen(page, "terms-coming");
});
