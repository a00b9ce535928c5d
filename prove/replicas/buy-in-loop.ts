import { setTimeout as sleep } from "node:timers/promises";
import { type Customer, create, must, orderAndPay, profileOf, send, signUp, until } from "../../testing/customer.ts";

interface Buyers {
  /** Rentals from order to end, and those of which a request had no answer. */
  readonly figures: { rented: number; interrupted: number };
  stop(): Promise<void>;
}

const pauseMs = 3_000;

/** Customers who order, pay, wait for the notebook and end it. After a lost answer they look what they have, and go on. */
export function buyInLoop(url: string, count: number): Buyers {
  const figures = { rented: 0, interrupted: 0 };
  let isStopping = false;
  const buying = Array.from({ length: count }, async (_, buyer) => {
    let customer: Customer | undefined;
    for (let n = 0; !isStopping; n++) {
      try {
        customer ??= await signUp(url);
        await endOwn(url, customer);
        await rent(url, customer, `bought-${buyer}-${n}`);
        figures.rented++;
      } catch {
        figures.interrupted++;
      }
      await sleep(pauseMs);
    }
  });
  return {
    figures,
    async stop() {
      isStopping = true;
      await Promise.all(buying);
    },
  };
}

async function rent(url: string, customer: Customer, subdomain: string): Promise<void> {
  const token = customer.idToken;
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount: 1 });
  const { body } = await create(url, customer, paid);
  const statusOf = async () =>
    (await must(url, "GET", `/environments/${body.environment_id}`, { token })).environment.status;
  await until(`the environment ${subdomain}`, async () => /active|terminated/.test(await statusOf()), 300_000);
}

async function endOwn(url: string, customer: Customer): Promise<void> {
  const { user_data } = await profileOf(url, customer);
  const own = Object.entries<{ status: string; subdomain: string }>(user_data.containers);
  for (const [id, { status, subdomain }] of own)
    if (status === "active")
      await send(url, "POST", `/environments/${id}/terminate`, {
        token: customer.idToken,
        body: { confirm: subdomain },
      });
}
