import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Customer, create, must, orderAndPay, signUp, until } from "../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { preparedJupyter } from "./labs.ts";
import { addressOf, ask, type EnvironmentAddress, openNotebook } from "./notebook.ts";

const root = join(import.meta.dirname, "..");

/**
 * Upgrades a running installation from the release before (the commit `from`) to this one, with an open notebook, requests to
 * it and customers who order. Each request is repeated until it is answered, as JupyterLab and the browser app do; none may
 * stay without an answer, no order may be lost, and the kernel keeps its variables. Then the release before must refuse the
 * database in one sentence.
 */
export async function proveUpgrade({ from }: { from: string }): Promise<void> {
  const before = checkOut(from);
  const dataDir = temporaryFolder();
  const program = join(before, "server/src/main.ts");
  try {
    const { after, figures } = await upgradeUnderLoad(await startProduct({ dataDir, program }));
    await after.stop();
    const downgrade = await startProduct({ dataDir, program }).then(
      (started) => started.stop().then(() => "it started"),
      (error: Error) => error.message.split("\n").slice(1).join(" ").trim(),
    );
    console.table({ ...figures, downgrade });
    const isRefused = /^The database was migrated by a newer version \(\w+\.sql\): [^\n]*\.$/.test(downgrade);
    if (figures.unanswered > 0 || figures.lostOrders > 0 || figures.cell !== "42" || !isRefused) process.exitCode = 1;
  } finally {
    removeFolder(dataDir);
    execFileSync("git", ["worktree", "remove", "--force", before], { cwd: root });
  }
}

/** A checkout of the commit with this one's packages and browser app. */
function checkOut(commit: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), "berth-before-")), "checkout");
  execFileSync("git", ["worktree", "add", "--detach", folder, commit], { cwd: root, stdio: "ignore" });
  execFileSync("cp", ["-al", join(root, "node_modules"), join(folder, "node_modules")]);
  cpSync(join(root, "web/dist"), join(folder, "web/dist"), { recursive: true });
  return folder;
}

async function upgradeUnderLoad(old: Product) {
  const { url, port, dataDir } = old;
  await preparedJupyter(url);
  const owner = await signUp(url);
  const address = await rent(old, owner, "open-lab");
  const notebook = await openNotebook(address);
  await notebook.run("kept = 41");
  notebook.close();
  const load = startLoad(url, address);
  await until("some load", async () => load.figures.answered > 20);
  const began = performance.now();
  process.kill(old.pid, "SIGTERM");
  await until("its end", async () => !isAlive(old.pid));
  const after = await startProduct({ dataDir, port });
  const awayMs = Math.round(performance.now() - began);
  await sleep(3_000);
  const orders = await load.stop();
  const again = await openNotebook(address, notebook.kernel);
  const cell = (await again.run("print(kept + 1)")).trim();
  again.close();
  const lostOrders = await countLost(url, orders);
  return { after, figures: { awayMs, ...load.figures, orders: orders.length, lostOrders, cell } };
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

/** Requests to the notebook and orders, until it is stopped: then it returns who paid for what. */
function startLoad(url: string, address: EnvironmentAddress) {
  const figures = { answered: 0, repeated: 0, unanswered: 0 };
  const orders: { readonly customer: Customer; readonly id: string }[] = [];
  let stopping = false;
  const repeat = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    for (const end = Date.now() + 60_000; Date.now() < end; figures.repeated++) {
      try {
        const done = await work();
        figures.answered++;
        return done;
      } catch {
        await sleep(100);
      }
    }
    figures.unanswered++;
    return undefined;
  };
  const readNotebook = async () => {
    while (!stopping) {
      await repeat(async () => {
        const { status } = await ask(address, "/api/contents");
        if (status !== 200) throw new Error(String(status));
      });
      await sleep(20);
    }
  };
  const buy = async () => {
    for (let n = 0; !stopping; n++) {
      const customer = await repeat(() => signUp(url));
      const paid =
        customer && (await repeat(() => orderAndPay(url, customer, { subdomain: `load-${n}`, gpuCount: 1 })));
      if (customer && paid) orders.push({ customer, id: paid.payment_data.razorpay_order_id });
      await sleep(1_000);
    }
  };
  const running = [readNotebook(), readNotebook(), buy()];
  return {
    figures,
    async stop() {
      stopping = true;
      await Promise.all(running);
      return orders;
    },
  };
}

/** States of an order whose money or environment is where it belongs. */
const safe = ["delivered", "ended", "refunded"];

/** Orders that are neither delivered, nor on their way, nor paid back. */
async function countLost(url: string, orders: readonly { readonly customer: Customer; readonly id: string }[]) {
  let lost = 0;
  for (const { customer, id } of orders) {
    const isKept = async () => {
      const { order } = await must(url, "GET", `/orders/${id}`, { token: customer.idToken });
      return safe.includes(order.state);
    };
    await until(`the order ${id}`, isKept).catch(() => lost++);
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
