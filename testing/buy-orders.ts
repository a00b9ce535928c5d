import { setTimeout as sleep } from "node:timers/promises";
import { defaultPrices, major, quote } from "@berth/contract";
import { type Answer, type Customer, orderBody, pay, send, signUp } from "./customer.ts";

interface Shopping {
  readonly accounts: number;
  /** The first launches an environment of one GPU, the others extend it by an hour. */
  readonly ordersEach: number;
  /** The orders are spread over this time. */
  readonly withinMs: number;
}

export interface Shopped {
  /** How many calls had each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Refusals as `METHOD PATH: status message`, with ids left out. */
  readonly refusals: readonly string[];
  /** Orders whose payment was confirmed. */
  readonly paid: number;
}

/** Signs up accounts, slowly enough for the limit of sign-ups of one network. */
export async function signUpMany(url: string, count: number): Promise<readonly Customer[]> {
  const customers: Customer[] = [];
  while (customers.length < count) {
    try {
      customers.push(await signUp(url));
    } catch (error) {
      if (!String(error).includes("429")) throw error;
      await sleep(1000);
    }
  }
  return customers;
}

/**
 * Buys as browsers do, each account one order after the other, with the calls of screens and payment dialog between. What is refused is
 * counted and ends the purchases of its account.
 */
export async function buyOrders(
  url: string,
  customers: readonly Customer[],
  { accounts, ordersEach, withinMs }: Shopping,
): Promise<Shopped> {
  const statuses = new Map<number, number>();
  const refusals: string[] = [];
  let paid = 0;
  const ask = async (method: string, path: string, options: Parameters<typeof send>[3] = {}): Promise<Answer> => {
    const answer = await send(url, method, path, options);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status >= 400)
      refusals.push(
        `${method} ${path.replace(/[a-z0-9]{20,}/g, "...")}: ${answer.status} ${JSON.stringify(answer.body)}`,
      );
    return answer;
  };
  const shop = async (customer: Customer, n: number) => {
    let id: string | undefined;
    for (let order = 0; order < ordersEach; order++) {
      const share = (order + n / accounts) / ordersEach;
      await sleep(Math.max(0, began + share * withinMs - performance.now()));
      // The app reads it once, when it loads.
      if (order === 0) await ask("GET", "/config");
      const bought = await buyOne(ask, url, customer, { subdomain: `shop-${n}`, id });
      if (!bought) return;
      paid++;
      id = bought;
    }
  };
  const began = performance.now();
  await Promise.all(customers.slice(0, accounts).map(shop));
  return { statuses, refusals, paid };
}

type Ask = (method: string, path: string, options?: Parameters<typeof send>[3]) => Promise<Answer>;

const dialogFiles = ["checkout.js", "checkout-page.js", "checkout.css", "geist.woff2"];

/** Returns the environment's id; undefined if a call was refused. */
async function buyOne(
  ask: Ask,
  url: string,
  customer: Customer,
  { subdomain, id }: { subdomain: string; id: string | undefined },
): Promise<string | undefined> {
  const token = customer.idToken;
  await ask("GET", `/profile/${customer.userId}`, { token });
  const launch = orderBody(customer, { subdomain, gpuCount: 1 });
  const amount = major(quote(defaultPrices, 1, 1, "USD").amountMinor);
  const ordered = id
    ? await ask("POST", `/environments/${id}/extend`, { token, body: { duration: 1, amount, currency: "USD" } })
    : await ask("POST", "/docker/payments/create_order", { token, body: launch });
  if (ordered.status !== 200) return undefined;
  for (const file of dialogFiles) await ask("GET", `/embedded-gateway/v1/${file}`);
  await ask("GET", `/embedded-gateway/v1/checkout?order_id=${ordered.body.id}`);
  const body = { container_request: launch.container_request, payment_data: await pay(url, ordered.body) };
  const created = await ask("POST", "/docker/environment/create", { token, body });
  await ask("GET", "/notifications", { token });
  return created.status === 200 ? created.body.environment_id : undefined;
}
