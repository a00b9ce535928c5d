import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../server/src/testing/free-port.ts";
import { orderAndPay, signUp } from "../testing/customer.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";
import type { Figure } from "./figure.ts";
import { launchPaid, preparedAt } from "./launch-stages.ts";
import { npmStart } from "./npm-start.ts";

const clones = 2;
const root = join(import.meta.dirname, "..");

/**
 * From `git clone` to the first page of `npm start`, and to the first notebook of a customer who waits until JupyterLab is
 * prepared. Packages come from the caches of npm and pip on this machine, after the first clone from nowhere else.
 */
export async function measure(): Promise<readonly Figure[]> {
  const [pages, notebooks]: [number[], number[]] = [[], []];
  for (let n = 0; n < clones; n++) {
    const folder = temporaryFolder();
    const began = performance.now();
    try {
      const checkout = join(folder, "berth");
      execFileSync("git", ["clone", "--quiet", root, checkout]);
      const env = { DATA_DIR: join(folder, "data"), PORT: String(await freePort()) };
      await using server = await npmStart(checkout, env, 600_000);
      pages.push(performance.now() - began);
      const customer = await signUp(server.url);
      await preparedAt(server.url);
      await launchPaid(
        server.url,
        customer,
        await orderAndPay(server.url, customer, { subdomain: "first", gpuCount: 1 }),
      );
      notebooks.push(performance.now() - began);
    } finally {
      removeFolder(folder);
    }
  }
  return [
    { name: "clone to the first page", unit: "ms", samples: pages },
    { name: "clone to the first notebook", unit: "ms", samples: notebooks },
  ];
}
