import { type Customer, create, must, orderOf, type Paid, pay, profileOf, send, signUp } from "./customer.ts";
import type { Random } from "./random.ts";

export interface Shop {
  readonly url: string;
  readonly random: Random;
  readonly seed: number;
  /** False once everybody is to go home. */
  readonly isOpen: () => boolean;
  /** A payment that no card form would make, by the test gateway's own call. */
  readonly payAgain: (orderId: string) => Promise<void>;
  readonly seen: { orders: number; left: number; late: number; twice: number };
}

const pauseMs = 150;
let names = 0;

/** One customer after the other order of theirs, as careless as customers are, until the shop closes. */
export async function shopAlong(shop: Shop, number: number): Promise<void> {
  let customer: Customer | undefined;
  while (shop.isOpen()) {
    try {
      customer ??= await signUp(shop.url, `Customer ${number}`);
      await endOwn(shop, customer);
      await buy(shop, customer);
    } catch {
      // The server is down, or refuses: a person tries again a little later.
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + shop.random())));
  }
}

/** What an earlier visit left behind makes room: a launch is cancelled, a running one ended. */
async function endOwn({ url, random }: Shop, customer: Customer): Promise<void> {
  const { user_data } = await profileOf(url, customer);
  for (const [id, { status, subdomain }] of Object.entries<{ status: string; subdomain: string }>(
    user_data.containers,
  )) {
    const token = customer.idToken;
    if (status === "pending" && random.chance(0.2))
      await send(url, "POST", `/environments/${id}/cancel`, { token, body: {} });
    if (status === "active")
      await send(url, "POST", `/environments/${id}/terminate`, { token, body: { confirm: subdomain } });
  }
}

async function buy({ url, random, seen, seed, payAgain }: Shop, customer: Customer): Promise<void> {
  const token = customer.idToken;
  const { body, order } = await orderOf(url, customer, {
    subdomain: `lab-${seed}-${process.pid}-${names++}`,
    gpuCount: random.of([1, 2, 4]),
    duration: random.of([1, 6, 24]),
    currency: random.of(["USD", "INR"]),
  });
  seen.orders++;
  if (random.chance(0.1))
    return void (await must(url, "POST", `/docker/payments/clear/${order.id}`, { token, body: {} }));
  if (random.chance(0.12)) {
    await must(url, "POST", `/docker/payments/clear/${order.id}`, { token, body: {} });
    seen.late++;
  }
  const paid: Paid = { container_request: body.container_request, payment_data: await pay(url, order) };
  if (random.chance(0.05)) {
    await payAgain(order.id);
    seen.twice++;
  }
  if (random.chance(0.3)) return void seen.left++;
  const calls = Array.from({ length: random.of([1, 1, 2, 4]) }, () => create(url, customer, paid));
  await Promise.race([Promise.allSettled(calls), new Promise((resolve) => setTimeout(resolve, 3000))]);
}
