import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startProduct } from "../testing/product.ts";
import { isSetUp } from "./setup.mjs";

// In a checkout that is not set up, it would install while other tests run.
test.skipIf(!isSetUp())("npm start runs the product, and a signal to it ends the product", async () => {
  const product = await startProduct({ program: join(fileURLToPath(new URL(".", import.meta.url)), "start.mjs") });
  onTestFinished(product.kill);
  const home = await fetch(product.url);
  expect([home.status, await home.text()]).toEqual([200, expect.stringContaining('<div id="root">')]);
  await product.stop();
  await expect(fetch(product.url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  expect(product.output()).not.toMatch(/Installing|Building|Bundling/);
});
