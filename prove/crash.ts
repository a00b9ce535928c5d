import assert from "node:assert/strict";
import {
  type Customer,
  create,
  must,
  orderAndPay,
  type Paid,
  profileOf,
  send,
  signUp,
  until,
} from "../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../testing/product.ts";
import { preparedJupyter, runsOf } from "./labs.ts";

/** When to kill the server: each waits for one point of the launch. */
const points: Readonly<Record<string, (round: Round) => Promise<void>>> = {
  "after payment": async () => {},
  "after the driver's start": (round) => reached(round, "created"),
  "before active": (round) => reached(round, "answering"),
};

interface Round {
  readonly product: Product;
  readonly customer: Customer;
  readonly paid: Paid;
}

/**
 * Kills the server with SIGKILL at each point of a launch and restarts it. Every order must end as exactly one running
 * environment, with the same JupyterLab process if that survived, or as one full refund.
 */
export async function proveCrash({ rounds }: { rounds: number }): Promise<void> {
  const dataDir = temporaryFolder();
  let product = await startProduct({ dataDir });
  const customer = await signUp(product.url);
  await preparedJupyter(product.url);
  try {
    for (const [point, moment] of Object.entries(points)) {
      const ends = { running: 0, kept: 0, refunded: 0 };
      for (let n = 0; n < rounds; n++) {
        const round = {
          product,
          customer,
          paid: await orderAndPay(product.url, customer, { subdomain: name(point, n) }),
        };
        product = await killAndRestart(round, moment, dataDir, ends);
      }
      console.log(
        `${point}: ${rounds} kills, ${ends.running} running (${ends.kept} with the same process), ${ends.refunded} refunded`,
      );
    }
  } finally {
    await product.stop();
    removeFolder(dataDir);
  }
}

async function killAndRestart(
  round: Round,
  moment: (round: Round) => Promise<void>,
  dataDir: string,
  ends: { running: number; kept: number; refunded: number },
): Promise<Product> {
  const { customer, paid, product } = round;
  // The call fails with the server; the order must be delivered without it.
  const created = create(product.url, customer, paid).catch(() => undefined);
  await moment(round);
  const before = await processesOf(round);
  await product.kill();
  await created;
  const again = await startProduct({ dataDir, port: product.port });
  const settled = { ...round, product: again };
  const end = await until("the order's end", () => endOf(settled), 90_000);
  ends[end]++;
  if (end === "running") {
    const after = await processesOf(settled);
    assert.equal(after.length, 1, "exactly one JupyterLab runs");
    if (before.length === 1) {
      assert.deepEqual(after, before, "the surviving JupyterLab was kept");
      ends.kept++;
    }
    await terminate(settled);
  }
  await until("every slot to be free again", async () => {
    const { free, total } = await must(again.url, "GET", "/capacity");
    return free === total;
  });
  return again;
}

async function containerOf({ product, customer, paid }: Round) {
  const { user_data } = await profileOf(product.url, customer);
  const all = Object.entries<{ subdomain: string; status: string }>(user_data.containers);
  const mine = all.filter(([, { subdomain }]) => subdomain === paid.container_request.subdomain);
  assert.ok(mine.length <= 1, "one order, one environment");
  const [id, container] = mine[0] ?? [];
  return id && container ? { id, ...container } : undefined;
}

async function reached(round: Round, stage: string): Promise<void> {
  await until(`stage ${stage}`, async () => {
    const container = await containerOf(round);
    if (!container) return false;
    const { environment } = await must(round.product.url, "GET", `/environments/${container.id}`, {
      token: round.customer.idToken,
    });
    return environment.stages.some((each: { stage: string }) => each.stage === stage);
  });
}

async function endOf(round: Round): Promise<"running" | "refunded" | undefined> {
  const container = await containerOf(round);
  if (container?.status === "active") return "running";
  const { body } = await create(round.product.url, round.customer, round.paid);
  return body.money === "refunded" ? "refunded" : undefined;
}

async function processesOf(round: Round) {
  const container = await containerOf(round);
  return container ? runsOf(container.id) : [];
}

async function terminate(round: Round): Promise<void> {
  const container = await containerOf(round);
  if (!container) return;
  await send(round.product.url, "POST", `/environments/${container.id}/terminate`, {
    token: round.customer.idToken,
    body: { confirm: container.subdomain },
  });
}

function name(point: string, n: number): string {
  return `crash-${point.replace(/[^a-z]+/g, "-")}-${n}`;
}
