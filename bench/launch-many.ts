import { type Customer, orderOf, type Paid, pay, signUp } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { endRental, launchPaid, type Stamps } from "./launch-stages.ts";

type Ordered = { readonly customer: Customer; readonly subdomain: string } & Awaited<ReturnType<typeof orderOf>>;

/** Pays `count` orders at once, waits for the last to be ready, and ends them. `tookMs`: first paid to last ready. */
export async function launchMany(
  { url }: Product,
  count: number,
): Promise<{ readonly stamps: readonly Stamps[]; readonly tookMs: number }> {
  const orders: Ordered[] = [];
  for (let n = 0; n < count; n++) {
    const customer = await signUp(url);
    const subdomain = `many-${n}`;
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
