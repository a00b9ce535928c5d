import { type Customer, orderOf, type Paid, pay, signUp } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { type Figure, inPairs } from "./figure.ts";
import { endRental, launchPaid, prepared, type Stamps } from "./launch-stages.ts";
import { startHub } from "./peers/jupyterhub.ts";
import { openProduct } from "./processes.ts";

const crowd = 20;

/**
 * One launch and twenty at once, first paid to last ready, beside JupyterHub whose spawner starts the same JupyterLab as a
 * process on this machine, from the request of a server to its first 200 through the proxy.
 */
export async function measure(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const product = await openProduct(stack, { SLOTS: String(crowd) });
  await prepared(product);
  const hub = await startHub(stack);
  const pairs = (count: number, rounds: number, hubPollMs: number) =>
    inPairs(
      rounds,
      async () => (await launchMany(product, count)).tookMs,
      () => hub.launchMany(count, hubPollMs),
    );
  const peer = { unit: "ms", beside: "JupyterHub 6.1.1" } as const;
  return [
    { name: "one launch", ...peer, ...(await pairs(1, 8, 25)) },
    { name: "twenty launches at once", ...peer, ...(await pairs(crowd, 4, 250)) },
  ];
}

type Ordered = { readonly customer: Customer; readonly subdomain: string } & Awaited<ReturnType<typeof orderOf>>;

let names = 0;

/** Pays `count` orders at once, waits for the last to be ready, and ends them. `tookMs`: first paid to last ready. */
export async function launchMany(
  { url }: Product,
  count: number,
): Promise<{ readonly stamps: readonly Stamps[]; readonly tookMs: number }> {
  const orders: Ordered[] = [];
  for (let n = 0; n < count; n++) {
    const customer = await signUp(url);
    // A name is its first owner's for a year.
    const subdomain = `many-${names++}`;
    orders.push({ customer, subdomain, ...(await orderOf(url, customer, { subdomain, gpuCount: 1 })) });
  }
  const all = await Promise.all(
    orders.map(async ({ customer, subdomain, body, order }) => {
      const paid: Paid = { container_request: body.container_request, payment_data: await pay(url, order) };
      return { customer, subdomain, ...(await launchPaid(url, customer, paid)) };
    }),
  );
  const stamps = all.map((one) => one.stamps);
  const first = Math.min(...all.map(({ paidAt }) => paidAt));
  const last = Math.max(...all.map(({ paidAt }, n) => paidAt + (stamps[n]?.get("ready") ?? Number.NaN)));
  for (const { customer, ...rental } of all) await endRental(url, customer, rental);
  return { stamps, tookMs: last - first };
}
