import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pricesAt } from "@berth/contract";
import { expect, test } from "@playwright/test";
import { pdfLines } from "../server/src/billing/testing/pdf-lines.ts";
import { type Customer, create, must, orderAndPay, orderBody, send, signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct } from "../testing/product.ts";
import { oldWordsIn, otherCatalogue } from "./testing/other-catalogue.ts";

const prices = pricesAt(otherCatalogue, new Date());
let product: Product;
let folder = "";

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-catalogue-"));
  const file = join(folder, "catalogue.json");
  writeFileSync(file, JSON.stringify(otherCatalogue));
  product = await startProduct({ env: { RUNTIME: "fake", CATALOGUE: file } });
});

test.afterAll(async () => {
  await product?.stop();
  if (product) removeFolder(product.dataDir);
  rmSync(folder, { recursive: true });
});

const rented = { subdomain: "other-lab", type: "vision", gpuCount: 2, duration: 3, currency: "EUR", prices };

async function rent(customer: Customer) {
  const paid = await orderAndPay(product.url, customer, rented);
  const { body } = await create(product.url, customer, paid);
  return { id: body.environment_id as string, orderId: paid.payment_data.razorpay_order_id };
}

test("with another catalogue every screen, mail, receipt, page and answer follows it (G125-G128)", async ({ page }) => {
  const { url } = product;
  const ada = await signUp(url);
  const types = async () => (await must(url, "GET", "/capacity")).types as { type: string; state: string }[];
  await until("both types to be prepared", async () => (await types()).every(({ state }) => state === "ready"));
  expect((await types()).map(({ type }) => type)).toEqual(["jupyter", "vision"]);
  const { id, orderId } = await rent(ada);
  const token = ada.idToken;
  const { invoices } = await must(url, "GET", `/billing/${ada.userId}`, { token });

  await test.step("answers of the API", async () => {
    const paths = [
      "/config",
      "/capacity",
      "/status",
      `/profile/${ada.userId}`,
      `/billing/${ada.userId}`,
      "/notifications",
    ];
    for (const path of [...paths, `/orders/${orderId}`, `/environments/${id}`])
      expect(oldWordsIn(JSON.stringify(await must(url, "GET", path, { token }))), path).toEqual([]);
    expect(JSON.stringify(await must(url, "GET", "/openapi.json"))).not.toMatch(/RTX|4070|88\.22|tensorflow/);
    expect(await must(url, "GET", `/orders/${orderId}`, { token })).toMatchObject({
      order: { container_type: "vision", list_price: 6.51, amount: 5.92, currency: "EUR", rate: 0.91 },
    });
  });

  await test.step("an order of what is not sold", async () => {
    for (const change of [{ type: "tensorflow" }, { gpuCount: 4 }, { duration: 6 }, { currency: "GBP" }]) {
      const { container_request, payment_request } = orderBody(ada, { ...rented, subdomain: "not-sold" });
      const wanted = {
        ...container_request,
        ...(change.type && { container_type: change.type }),
        ...(change.gpuCount && { gpu_count: change.gpuCount }),
        ...(change.duration && { duration: change.duration }),
      };
      const payment = {
        ...payment_request,
        ...(change.currency && { currency: change.currency }),
        container_request: wanted,
      };
      const body = { container_request: wanted, payment_request: payment };
      const answer = await send(url, "POST", "/docker/payments/create_order", { token, body });
      expect([answer.status, answer.body.code], JSON.stringify(change)).toEqual([400, "invalid_request"]);
      expect(answer.body.message).toMatch(/ is not offered$/);
    }
  });

  await test.step("receipt and mails", async () => {
    const path = `/billing/${ada.userId}/receipts/${invoices[0].number}.pdf`;
    const pdf = await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).arrayBuffer();
    const lines = pdfLines(Buffer.from(pdf)).join("\n");
    expect(lines).toContain("1 USD = 0.91 EUR, fixed with the order");
    expect(lines).toContain("€5.92 EUR");
    expect(oldWordsIn(lines)).toEqual([]);
    const request = await page.request.get(product.operatorPage("/outbox"), {
      headers: { accept: "application/json" },
    });
    const mails = await request.json();
    expect(mails.length).toBeGreaterThan(0);
    for (const { subject, text, html } of mails) expect(oldWordsIn(`${subject}\n${text}\n${html}`)).toEqual([]);
  });

  await test.step("public pages, as they are served", async () => {
    const index = await (await page.request.get(`${url}/`)).text();
    for (const word of ["L40S or A100", "Plain Lab or Vision", "$1.13", "€0.91", "₹90.50", "$1,301.50", "96 to 160 GB"])
      expect(index).toContain(word);
    const paths = [
      "/",
      "/terms-condition",
      "/refund",
      "/privacy-policy",
      "/legal-compliance",
      "/delivery-policy",
      "/status",
    ];
    for (const path of paths) {
      const html = await (await page.request.get(`${url}${path}`, { headers: { accept: "text/html" } })).text();
      const text = html.replace(/<style.*?<\/style>/gs, "").replace(/<meta name="catalogue"[^>]*>/, "");
      expect(oldWordsIn(text), path).toEqual([]);
    }
  });

  await test.step("screens", async () => {
    await page.goto(url);
    await expect(
      page.getByText("Rent a dedicated L40S or A100 with Plain Lab or Vision already installed."),
    ).toBeVisible();
    await page.goto(`${url}/login`);
    await page.getByLabel("Email").fill(ada.email);
    await page.getByLabel("Password", { exact: true }).fill(ada.password);
    await page
      .locator("form")
      .getByRole("button", { name: /log ?in/i })
      .click();
    await page.waitForURL("**/dashboard");
    const screens = [
      ["/dashboard", "Vision"],
      ["/environments", "Vision"],
      [`/environments/${id}`, "Vision"],
      ["/environments/create", "Plain Lab"],
      ["/environments/create?step=2", "Totals for 2 GPUs. Up to 1 week is the hourly plan"],
      ["/environments/create?step=3", "$2.17"],
      ["/billing", "Vision"],
      ["/billing?tab=invoices", "€5.92"],
      [`/billing/orders/${orderId}`, "1 USD = €0.91"],
      ["/support", "Quick"],
      ["/settings", "Profile"],
    ] as const;
    for (const [path, word] of screens) {
      await page.goto(`${url}${path}`);
      await expect(page.getByText(word).first(), path).toBeVisible();
      expect(oldWordsIn(await page.locator("body").innerText()), path).toEqual([]);
    }
  });
});
