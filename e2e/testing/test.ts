import { AxeBuilder } from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Frame, type Page } from "@playwright/test";
import type { Database } from "../../server/src/database/database.ts";
import { endUnpaidOrdersOf } from "../../server/src/payments/orders/end-unpaid-order.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { type Customer, must, signUp, until } from "../../testing/customer.ts";
import { deployedProduct } from "../../testing/deployed-product.ts";
import { environment } from "../../testing/environment.ts";
import { type Product, removeFolder, startProduct } from "../../testing/product.ts";
import { openProductDatabase } from "../../testing/seed.ts";
import type { TestCluster } from "../../testing/test-cluster.ts";
import { launchBrowser } from "./launch-browser.ts";
import { runInNetwork } from "./run-in-network.ts";

export { expect };

interface Worker {
  /** The product; one process per Playwright worker. */
  readonly product: Product;
  readonly database: Database;
}

interface Each {
  /** A new customer, signed in to the browser. */
  readonly customer: Customer;
  /** Terminates all environments after the test, to free their GPUs. */
  readonly ended: undefined;
}

/** Imports lazily, only with a cluster. */
async function clusterOf(runtime: string | undefined): Promise<TestCluster | undefined> {
  if (runtime !== "kubernetes") return undefined;
  const { openTestCluster } = await import("../../testing/test-cluster.ts");
  return await openTestCluster();
}

/** Its browser, and a product that is started here. */
const isDocker = environment.runtime.RUNTIME === "docker" && !environment.deployed;

export const test = base.extend<Each, Worker>({
  launchOptions: [
    async ({ launchOptions }, use) => {
      if (isDocker) await runInNetwork(launchOptions, "berth/jupyter:local", use);
      else await use(launchOptions);
    },
    { scope: "worker" },
  ],
  browser: [
    async ({ playwright }, use) => {
      const browser = await launchBrowser(playwright.chromium);
      await use(browser);
      await browser.close({ reason: "Test ended." });
    },
    { scope: "worker", timeout: 0 },
  ],
  product: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      if (environment.deployed) return await use(deployedProduct(environment.deployed));
      const cluster = await clusterOf(environment.runtime.RUNTIME);
      const product = await startProduct({
        env: {
          ...{ SUPPORT_TELEGRAM: "berth_support", SSH_PORT: String(await freePort()), ...cluster?.settings },
          ...(isDocker && { HOST: "0.0.0.0" }),
        },
      });
      await until(
        "JupyterLab to be prepared",
        async () => {
          const { types } = await must(product.url, "GET", "/capacity");
          return types.some(
            ({ type, state }: { type: string; state: string }) => type === "jupyter" && state === "ready",
          );
        },
        300_000,
      );
      await use(product);
      await product.stop();
      await cluster?.close();
      removeFolder(product.dataDir);
    },
    { scope: "worker", timeout: 330_000 },
  ],
  database: [
    async ({ product }, use) => {
      // Tests of an installation that was not started here use the browser alone.
      if (environment.deployed) return await use({} as Database);
      const database = await openProductDatabase(product);
      await use(database);
      await database.close();
    },
    { scope: "worker" },
  ],
  ended: [
    async ({ database: { db } }, use) => {
      await use(undefined);
      if (!environment.deployed) await endRentals(db);
    },
    { auto: true },
  ],
  baseURL: async ({ product }, use) => use(product.url),
  page: async ({ page }, use) => {
    await use(page);
    // A reply may still be pending.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
  customer: async ({ product, context }, use) => {
    const customer = await signUp(product.url);
    await storeSession(context, product.url, customer);
    await use(customer);
  },
});

/**
 * Ends every rental and unpaid order, except seeded rentals, which are not due for days. An order that is paid at this
 * moment becomes a rental later: a test that needs every GPU repeats this until all are free.
 */
export async function endRentals(db: Database["db"]): Promise<void> {
  const now = new Date();
  await db
    .updateTable("environments")
    .set({ desired: "terminated", ended_reason: "terminated", due_at: now })
    .where("status", "!=", "terminated")
    .where("due_at", "<", new Date(now.getTime() + 86_400_000))
    .execute();
  const open = await db.selectFrom("orders").select("user_id").distinct().where("status", "=", "open").execute();
  for (const { user_id } of open) await db.transaction().execute((tx) => endUnpaidOrdersOf(tx, user_id));
}

/** Stores a session like web/src/api/session.ts. */
export async function storeSession(
  context: BrowserContext,
  origin: string,
  { userId, email, idToken, refreshToken }: Customer,
): Promise<void> {
  const stored = { user_id: userId, userEmail: email, refreshToken, expiresAt: `${Date.now() + 3_600_000}`, idToken };
  const localStorage = Object.entries(stored).map(([name, value]) => ({ name, value }));
  await context.setStorageState({ cookies: [], origins: [{ origin, localStorage }] });
}

export async function signIn(page: Page, { email, password }: Pick<Customer, "email" | "password">): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page
    .locator("form")
    .getByRole("button", { name: /log ?in/i })
    .click();
  await page.waitForURL("**/dashboard");
}

/** Checks all axe rules, or the named ones, in every frame, after the fonts have loaded. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  const found = await Promise.all(page.frames().map(async (frame) => violationsIn(page, frame, rules)));
  expect(found.flat()).toEqual([]);
}

interface Axe {
  run(
    context: Document,
    options: { iframes: boolean; resultTypes: string[]; selectors: boolean; runOnly?: string[] },
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** Injects axe once per document; AxeBuilder would inject it, and open a page, for every check. */
async function violationsIn(page: Page, frame: Frame, rules?: readonly string[]): Promise<string[]> {
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(new AxeBuilder({ page })["script"]());
  return frame.evaluate(
    async (only) => {
      const { axe } = window as unknown as { axe: Axe };
      // Selectors take a quarter of the time, and the HTML names an element.
      const options = {
        ...{ iframes: false, resultTypes: ["violations"], selectors: false },
        ...(only && { runOnly: only }),
      };
      const { violations } = await axe.run(document, options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
    },
    rules && [...rules],
  );
}
