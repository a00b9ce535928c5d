import { AxeBuilder } from "@axe-core/playwright";
import { type BrowserContext, test as base, expect, type Frame, type Page } from "@playwright/test";
import type { Database } from "../../server/src/database/database.ts";
import { type Customer, must, signUp, until } from "../../testing/customer.ts";
import { environment } from "../../testing/environment.ts";
import { type Product, removeFolder, startProduct } from "../../testing/product.ts";
import { openProductDatabase } from "../../testing/seed.ts";

export { expect };

interface Worker {
  /** The real product, one for each Playwright worker. */
  readonly product: Product;
  readonly database: Database;
}

interface Each {
  /** A customer signed up by the API, whose browser is signed in. */
  readonly customer: Customer;
  /** Ends what a test left running: the next one needs the places, and the machine. */
  readonly ended: undefined;
}

/**
 * The server's first probe of its firewall makes containers, and with them network interfaces of this machine: its browser
 * then breaks off whatever it is loading, as after any change of network, and keeps a part of the app that failed so.
 */
async function firstProbeIsOver(begunAt: number): Promise<void> {
  const { docker } = await import("../../server/src/drivers/testing/docker-machine.ts");
  const filters = { name: ["probe-"] };
  // Older ones are another server's that was killed.
  const isProbing = async () =>
    (await docker.listContainers({ all: true, filters })).some(({ Created }) => Created * 1000 >= begunAt - 1000);
  await until("the first probe of the firewall", isProbing);
  await until("its end", async () => !(await isProbing()));
}

export const test = base.extend<Each, Worker>({
  product: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const begunAt = Date.now();
      const product = await startProduct();
      if (environment.runtime.RUNTIME === "docker") await firstProbeIsOver(begunAt);
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
      removeFolder(product.dataDir);
    },
    { scope: "worker", timeout: 330_000 },
  ],
  database: [
    async ({ product }, use) => {
      const database = await openProductDatabase(product);
      await use(database);
      await database.close();
    },
    { scope: "worker" },
  ],
  ended: [
    async ({ database: { db } }, use) => {
      await use(undefined);
      const now = new Date();
      await db
        .updateTable("environments")
        .set({ desired: "terminated", ended_reason: "terminated", due_at: now })
        .where("status", "!=", "terminated")
        .where("due_at", "<", new Date(now.getTime() + 86_400_000))
        .execute();
    },
    { auto: true },
  ],
  baseURL: async ({ product }, use) => use(product.url),
  page: async ({ page }, use) => {
    await use(page);
    // An answer may be on its way still.
    await page.unrouteAll({ behavior: "ignoreErrors" });
  },
  customer: async ({ product, context }, use) => {
    const customer = await signUp(product.url);
    await storeSession(context, product.url, customer);
    await use(customer);
  },
});

/** As a sign-in leaves it (web/src/api/session.ts): most tests are about what comes after. */
async function storeSession(
  context: BrowserContext,
  origin: string,
  { userId, email, idToken, refreshToken }: Customer,
): Promise<void> {
  const stored = { user_id: userId, userEmail: email, refreshToken, expiresAt: `${Date.now() + 3_600_000}`, idToken };
  const localStorage = Object.entries(stored).map(([name, value]) => ({ name, value }));
  await context.setStorageState({ cookies: [], origins: [{ origin, localStorage }] });
}

export async function signIn(page: Page, { email, password }: Customer): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page
    .locator("form")
    .getByRole("button", { name: /log ?in/i })
    .click();
  await page.waitForURL("**/dashboard");
}

/** No violation of any rule, best practice included, or of the named ones; in every frame, once the fonts are there. */
export async function expectAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  const found = await Promise.all(page.frames().map(async (frame) => violationsIn(page, frame, rules)));
  expect(found.flat()).toEqual([]);
}

interface Axe {
  run(
    context: Document,
    options: { iframes: boolean; resultTypes: string[]; runOnly?: string[] },
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** Axe is brought into a document once: the builder would bring it, and open a page of its own, for every look. */
async function violationsIn(page: Page, frame: Frame, rules?: readonly string[]): Promise<string[]> {
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(new AxeBuilder({ page })["script"]());
  return frame.evaluate(
    async (only) => {
      const { axe } = window as unknown as { axe: Axe };
      const options = { iframes: false, resultTypes: ["violations"], ...(only && { runOnly: only }) };
      const { violations } = await axe.run(document, options);
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
    },
    rules && [...rules],
  );
}
