import { setTimeout as sleep } from "node:timers/promises";
import { type Customer, create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import {
  endRuns,
  type Product,
  type ProductOptions,
  removeFolder,
  startProduct,
  temporaryFolder,
} from "../testing/product.ts";
import { preparedJupyter } from "./labs.ts";
import { addressOf, type EnvironmentAddress, openNotebook } from "./notebook.ts";
import { writeProof } from "./proof-page.ts";
import { holdPort } from "./upgrade/hold-port.ts";
import { openNotebookPage } from "./upgrade/notebook-page.ts";
import { releaseBefore } from "./upgrade/release-before.ts";
import { startEdge } from "./upgrade/start-edge.ts";
import { type Bought, startLoad } from "./upgrade/start-load.ts";

/** What the old release is answering ends meanwhile. */
const drainMs = 5_000;
const longestStopMs = 10_000;

/**
 * Upgrades a running installation from the release before (the commit `from`) to this one, behind the shipped nginx.conf and
 * as docs/operate/upgrade.md says for 0.1.0, with a notebook open in a browser, whose user types and saves, requests to another one, and customers who order. No request and no
 * order may be lost, nor a line that a cell prints meanwhile; the kernel keeps its variables. Then the release before must
 * refuse the database in one sentence.
 */
export async function proveUpgrade({ from }: { from: string }): Promise<void> {
  const before = releaseBefore(from);
  const dataDir = temporaryFolder();
  const edge = await startEdge();
  const started: Product[] = [];
  const start = async (port: number, options: ProductOptions) => {
    const product = await startProduct({ dataDir, port, env: { APP_URL: edge.url }, ...options });
    started.push(product);
    return product;
  };
  const marks = temporaryFolder();
  try {
    const figures = await upgradeUnderLoad({
      startOld: () => start(edge.oldPort, { program: before }),
      async leadToNew() {
        const { launcher, listening, begin } = holdPort(edge.newPort, marks);
        const starting = start(edge.newPort, { launcher });
        await Promise.race([listening(), starting]);
        edge.leadToNew();
        return { begin, starting };
      },
    });
    await started.at(-1)?.stop();
    const downgrade = await start(edge.oldPort, { program: before }).then(
      () => "it started",
      (error: Error) => error.message.split("\n").slice(1).join(" ").trim(),
    );
    console.log({ ...figures, downgrade });
    const isRefused = /^The database was migrated by a newer version \(\w+\.sql\): [^\n]*\.$/.test(downgrade);
    const { load, page, lostOrders, cell } = figures;
    if (load.lost.length + page.lost.length + lostOrders > 0 || cell !== "42" || !isRefused) process.exitCode = 1;
    else writeProof("upgrade", proofText(from, figures, downgrade));
  } finally {
    for (const product of started) await product.kill();
    endRuns(dataDir);
    edge.stop();
    for (const folder of [dataDir, marks]) removeFolder(folder);
  }
}

interface Steps {
  readonly startOld: () => Promise<Product>;
  /** Requests wait from now on, until the new release begins and has started. */
  readonly leadToNew: () => Promise<{ readonly begin: () => void; readonly starting: Promise<Product> }>;
}

async function upgradeUnderLoad({ startOld, leadToNew }: Steps) {
  const old = await startOld();
  const { url } = old;
  await preparedJupyter(url);
  const owner = await signUp(url);
  const address = await rent(old, owner, "open-lab");
  const notebook = await openNotebook(address);
  await notebook.run("kept = 41");
  const writer = await signUp(url);
  await rent(old, writer, "written-lab");
  const page = await openNotebookPage(url, writer);
  try {
    const load = startLoad(url, address);
    await until("some load", async () => load.figures.answered > 20);
    const began = performance.now();
    const { begin, starting } = await leadToNew();
    await sleep(drainMs);
    const stopMs = await end(old);
    begin();
    await starting;
    const awayMs = Math.round(performance.now() - began);
    const written = await page.finish();
    const bought = await load.stop();
    notebook.close();
    const again = await openNotebook(address, notebook.kernel);
    const cell = (await again.run("print(kept + 1)")).trim();
    again.close();
    const lostOrders = await countLost(url, bought);
    return { stopMs, awayMs, load: load.figures, page: written, orders: bought.length, lostOrders, cell };
  } finally {
    await page.close();
  }
}

function proofText(
  from: string,
  { stopMs, awayMs, load, page, orders }: Awaited<ReturnType<typeof upgradeUnderLoad>>,
  downgrade: string,
): string {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return `\`npm run prove -- upgrade --from ${from}\`: that commit, built from its own lockfile, was upgraded to this one behind the shipped nginx.conf; ${seconds(awayMs)} from the moment that the proxy leads to the new port until the new release is ready there, ${seconds(stopMs)} of it the stop of the old one.

- A notebook in a browser, typed into and saved all the while: ${page.answered} requests answered, ${page.saves} of them saves, 0 lost; longest wait ${seconds(page.longestMs)}. A cell that printed all the while: every line is there.
- Requests to another notebook, sign-ups and orders: ${load.answered} answered, 0 lost; longest wait ${seconds(load.longestMs)}. Its kernel kept its variables.
- ${orders} orders paid, 0 lost.
- Downgrade: "${downgrade}"`;
}

/** SIGTERM, and SIGKILL if it does not end. Its environments go on. Returns the time in ms. */
async function end({ pid, kill }: Product): Promise<number> {
  const began = performance.now();
  process.kill(pid, "SIGTERM");
  const isEnded = async () => !isAlive(pid);
  await until("its end", isEnded, longestStopMs).catch(kill);
  return Math.round(performance.now() - began);
}

async function rent(product: Product, customer: Customer, subdomain: string): Promise<EnvironmentAddress> {
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 });
  const { body } = await create(product.url, customer, paid);
  const { environment_id: id } = body as { environment_id: string };
  await until("its environment", async () => {
    const { environment } = await must(product.url, "GET", `/environments/${id}`, { token: customer.idToken });
    return environment.status === "active";
  });
  return addressOf(product, customer.idToken, id);
}

/** States of an order whose money or environment is where it belongs. */
const safe = ["delivered", "ended", "refunded"];

/** Orders that are neither delivered, nor on their way, nor paid back. */
async function countLost(url: string, bought: readonly Bought[]): Promise<number> {
  let lost = 0;
  for (const { customer, orderId } of bought) {
    const isKept = async () => {
      const { order } = await must(url, "GET", `/orders/${orderId}`, { token: customer.idToken });
      return safe.includes(order.state);
    };
    await until(`the order ${orderId}`, isKept).catch(() => lost++);
  }
  return lost;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
