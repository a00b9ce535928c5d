import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test as base, type Page } from "@playwright/test";
import type { Database } from "../../server/src/database/database.ts";
import { addOperator } from "../../server/src/operator/accounts/add-operator.ts";
import { builtOperator } from "../../server/src/testing/built-programs.ts";
import { codeOf } from "../../server/src/testing/factor-code.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { environment } from "../../testing/environment.ts";
import { type Product, removeFolder, startProduct } from "../../testing/product.ts";
import { openProductDatabase } from "../../testing/seed.ts";

export { expect } from "@playwright/test";

export const password = "good password 1";

/** A product on the fake driver with the operator's console, and its command line. */
export interface Desk {
  readonly product: Product;
  readonly db: Database["db"];
  /** Address of the console. */
  readonly url: string;
  /** Runs `operator -- ...` and returns what it prints. */
  readonly operate: (...args: string[]) => Promise<string>;
}

interface Each {
  /** Address of an operator who is signed in. */
  readonly operator: string;
}

export const test = base.extend<Each, { readonly desk: Desk }>({
  desk: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from the pattern
    async ({}, use) => {
      const port = await freePort();
      const env = { RUNTIME: "fake", OPERATOR_PORT: String(port), OPERATOR_SECOND_FACTOR: "true" };
      const product = await startProduct({ env });
      const database = await openProductDatabase(product);
      const operate = async (...args: string[]) => {
        const given = { env: { ...environment.shell, ...env, PORT: String(product.port), DATA_DIR: product.dataDir } };
        return (await promisify(execFile)(process.execPath, [builtOperator, ...args], given)).stdout;
      };
      await use({ product, db: database.db, url: `http://localhost:${port}`, operate });
      await database.close();
      await product.stop();
      removeFolder(product.dataDir);
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ desk }, use) => use(desk.url),
  operator: async ({ desk, page }, use, { testId }) => {
    const email = `operator-${testId}-${Date.now()}@berth.example`;
    const link = await linkFor(desk, email);
    const post = (path: string, data: object) =>
      page.request.post(`/operator/api/${path}`, { data, headers: { origin: desk.url }, failOnStatusCode: true });
    const { second_factor } = await (await post("link/open", { link })).json();
    await post("link/spend", { link, password, code: codeOf(second_factor.secret) });
    await use(email);
  },
});

/** The code of a new operator's link, without the second that the command line takes. */
export function linkFor({ db }: Desk, email: string): Promise<string> {
  return addOperator(db, email, { actor: "e2e", reason: "" });
}

/** Opens a screen of the console and waits for it. */
export async function openScreen(page: Page, path: string, title: string): Promise<void> {
  await page.goto(`/operator${path}`);
  await page.getByRole("banner").getByRole("heading", { name: title, level: 1 }).waitFor();
}
