import { chromium } from "@playwright/test";
import { browserPath } from "../testing/browser.ts";
import { buyOrders, signUpMany } from "../testing/buy-orders.ts";
import type { Customer } from "../testing/customer.ts";
import { environment } from "../testing/environment.ts";
import { removeFolder, startProduct } from "../testing/product.ts";
import type { Figure } from "./figure.ts";

const accounts = 60;
const ordersEach = 5;
const withinMs = 120_000;

/**
 * 300 paid orders of 60 accounts within two minutes on an installation by default, all from one address, a real browser among
 * them. The accounts sign up before, over a minute: a network may sign up 60 a minute.
 */
export async function measure(): Promise<readonly Figure[]> {
  const product = await startProduct({ env: { RUNTIME: "fake", FAKE_DRIVER: "gpus=104,startMs=50" }, hasLimits: true });
  try {
    const customers = await signUpMany(product.url, accounts);
    const [another] = await signUpMany(product.url, 1);
    const [shopped, seen] = await Promise.all([
      buyOrders(product.url, customers, { accounts, ordersEach, withinMs }),
      buyInBrowser(product.url, another as Customer),
    ]);
    console.log(`calls by status: ${[...shopped.statuses].map(([status, count]) => `${status}: ${count}`).join(", ")}`);
    console.log(`answers of 429 or 5xx that the browser saw: ${seen.join(", ")}`);
    for (const refusal of new Set(shopped.refusals)) console.log(`  ${refusal}`);
    const counts = {
      "not paid": accounts * ordersEach - shopped.paid,
      "answered 503": shopped.statuses.get(503) ?? 0,
      "429 or 5xx in a browser": seen.length,
    };
    const events = ["order.check_failed", "provider.event_failed", "provider.unreachable", "provider.limited"];
    const logged = events.map((event) => [`${event} in the log`, product.output().split(event).length - 1] as const);
    return [...Object.entries(counts), ...logged].map(([name, count]) => ({
      ...{ name: `300 orders in two minutes: ${name}`, unit: "", samples: [count] },
    }));
  } finally {
    await product.stop();
    removeFolder(product.dataDir);
  }
}

/** Returns the refusals that it saw. */
async function buyInBrowser(url: string, { email, password }: Customer): Promise<readonly string[]> {
  const browser = await chromium.launch({
    executablePath: environment.chromium ?? browserPath(),
    args: ["--no-sandbox"],
  });
  try {
    const page = await (await browser.newContext({ baseURL: url })).newPage();
    page.setDefaultTimeout(100_000);
    const seen: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 429 || response.status() >= 500) seen.push(`${response.status()} ${response.url()}`);
    });
    await page.goto("/login");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page
      .locator("form")
      .getByRole("button", { name: /log ?in/i })
      .click();
    await page.waitForURL("**/dashboard");
    await page.goto("/environments/create");
    for (const step of [2, 3]) {
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("region", { name: `Step ${step}:` }).waitFor();
    }
    await page.getByLabel("Subdomain").fill("in-a-browser");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Launch" }).click();
    const dialog = page.frameLocator("iframe");
    await dialog.getByLabel("Card number").fill("5555 5555 5555 4444");
    await dialog.getByLabel("Expiry").fill("12/34");
    await dialog.getByLabel("CVV").fill("123");
    await dialog.getByRole("button", { name: /^Pay/ }).click();
    await page.waitForURL("**/environments");
    await page.locator("tr[data-status]", { hasText: "in-a-browser" }).getByText("Active").first().waitFor();
    return seen;
  } finally {
    await browser.close();
  }
}
