import { defaultPrices, major, quote } from "@berth/contract";
import type { Random } from "../../server/src/testing/random.ts";
import {
  type Customer,
  create,
  must,
  orderOf,
  type Paid,
  pay,
  payByUpi,
  profileOf,
  send,
  signUp,
} from "../../testing/customer.ts";

export interface Shop {
  readonly url: string;
  readonly random: Random;
  readonly seed: number;
  /** False once the run is over. */
  readonly isOpen: () => boolean;
  /** Adds a second payment to an order, by a test call of the embedded provider. */
  readonly payAgain: (orderId: string) => Promise<void>;
  /** Refunds or disputes a delivered order. */
  readonly payBack: (how: PaidBack, bought: Bought) => Promise<void>;
  readonly counts: { orders: number; left: number; late: number; twice: number; extended: number };
}

/** In the provider's dashboard, by an operator's command, or by a lost dispute. */
export type PaidBack = "dashboard" | "operator" | "prorated" | "bank";

export interface Bought {
  readonly orderId: string;
  readonly paymentId: string;
}

const pauseMs = 150;
let names = 0;

/** A careless customer who orders in a loop until the shop closes. */
export async function orderInLoop(shop: Shop, number: number): Promise<void> {
  let customer: Customer | undefined;
  while (shop.isOpen()) {
    try {
      customer ??= await signUp(shop.url, `Customer ${number}`);
      await endOwn(shop, customer);
      // A lost dispute holds the account, so a new customer continues.
      if ((await buy(shop, customer)) === "bank") customer = undefined;
    } catch {
      // The server is down or refuses: retry after the pause.
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + shop.random())));
  }
}

/** Ends the environments of earlier orders, so that quotas do not refuse the next. */
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

async function buy(shop: Shop, customer: Customer): Promise<PaidBack | undefined> {
  const { url, random, counts, seed, payAgain } = shop;
  const token = customer.idToken;
  const gpuCount = random.of([1, 2, 4] as const);
  const currency = random.of(["USD", "INR"]);
  const { body, order } = await orderOf(url, customer, {
    subdomain: `lab-${seed}-${process.pid}-${names++}`,
    gpuCount,
    duration: random.of([1, 6, 24]),
    currency,
  });
  counts.orders++;
  if (random.chance(0.1)) {
    await must(url, "POST", `/docker/payments/clear/${order.id}`, { token, body: {} });
    return undefined;
  }
  if (random.chance(0.12)) {
    await must(url, "POST", `/docker/payments/clear/${order.id}`, { token, body: {} });
    counts.late++;
  }
  const payment_data = await (currency === "INR" && random.chance(1 / 3) ? payByUpi : pay)(url, order);
  const paid: Paid = { container_request: body.container_request, payment_data };
  if (random.chance(0.05)) {
    await payAgain(order.id);
    counts.twice++;
  }
  if (random.chance(0.3)) {
    counts.left++;
    return undefined;
  }
  const calls = Array.from({ length: random.of([1, 1, 2, 4]) }, () => create(url, customer, paid));
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 5000));
  const answers = await Promise.race([Promise.allSettled(calls), late]);
  const answer = answers?.find((each) => each.status === "fulfilled" && each.value.body.status === "active");
  if (answer?.status !== "fulfilled" || !random.chance(0.7)) return undefined;
  const bought = [boughtOf(paid), await extend(shop, customer, answer.value.body.environment_id, paid)];
  const how = random.of(["dashboard", "operator", "prorated", "bank", undefined, undefined] as const);
  if (how) await shop.payBack(how, random.of(bought));
  if (how === "dashboard" && random.chance(0.5)) for (const each of bought) await shop.payBack("operator", each);
  return how;
}

function boughtOf({ payment_data }: Paid): Bought {
  return { orderId: payment_data.razorpay_order_id, paymentId: payment_data.razorpay_payment_id };
}

/** Extends the rental by six hours. */
async function extend(
  { url, counts }: Shop,
  customer: Customer,
  id: string,
  { container_request }: Paid,
): Promise<Bought> {
  const token = customer.idToken;
  const amount = major(quote(defaultPrices, container_request.gpu_count, 6, "USD").amountMinor);
  const body = { duration: 6, amount, currency: "USD" };
  const order = await must(url, "POST", `/environments/${id}/extend`, { token, body });
  const paid = {
    container_request: { ...container_request, duration: 6 as const },
    payment_data: await pay(url, order),
  };
  counts.extended++;
  await create(url, customer, paid);
  return boughtOf(paid);
}
