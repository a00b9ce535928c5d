import type { Db } from "../../server/src/database/database.ts";
import {
  type Customer,
  create,
  type OrderRequest,
  orderAndPay,
  profileOf,
  send,
  signUp,
  until,
} from "../../testing/customer.ts";
import type { Product } from "../../testing/product.ts";
import { type Door, doorOf } from "../notebook.ts";

/** A started product and its database, which stands in for the time that an attacker would wait. */
export interface Target {
  /** Settings it was started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Another one after a restart. */
  product: Product;
  readonly db: Db;
}

/** What became of one attack: how often it was tried, and each time that it worked, in words. */
interface Outcome {
  readonly tries: number;
  readonly successes: readonly string[];
}

export interface Attack {
  /** What it is after; the number is the audit's. */
  readonly name: string;
  /** Takes minutes, so the quick run leaves it out. */
  readonly slow?: boolean;
  run(target: Target): Promise<Outcome>;
}

export interface Rental {
  readonly customer: Customer;
  readonly id: string;
  readonly subdomain: string;
  readonly orderId: string;
  readonly door: Door;
}

let names = 0;

/** A name that no other attack of this run has. */
export function newName(of: string): string {
  return `${of}-${names++}`;
}

/** A customer, or a new one, with a running environment. */
export async function rent(
  { product }: Target,
  { customer, ...request }: Partial<OrderRequest> & { readonly customer?: Customer } = {},
): Promise<Rental> {
  const { url } = product;
  const who = customer ?? (await signUp(url));
  const subdomain = request.subdomain ?? newName("rented");
  const paid = await orderAndPay(url, who, { gpuCount: 1, ...request, subdomain });
  const { status, body } = await create(url, who, paid);
  if (status !== 200) throw new Error(`${subdomain} was not rented: ${status} ${JSON.stringify(body)}`);
  const id = await until(`${subdomain} to run`, async () => {
    const { user_data } = await profileOf(url, who);
    const all = Object.entries<{ subdomain: string; status: string }>(user_data.containers);
    return all.find(([, each]) => each.subdomain === subdomain && each.status === "active")?.[0];
  });
  const door = await doorOf(product, who.idToken, id);
  return { customer: who, id, subdomain, orderId: paid.payment_data.razorpay_order_id, door };
}

/** One of the owner's buttons; answers the status of the call. */
export async function act({ product }: Target, { customer, id }: Rental, action: string): Promise<number> {
  const path = `/docker/${action}_container/${id}/${customer.userId}`;
  return (await send(product.url, "POST", path, { token: customer.idToken })).status;
}

export async function end({ product }: Target, { customer, id, subdomain }: Rental): Promise<void> {
  await send(product.url, "POST", `/environments/${id}/terminate`, {
    token: customer.idToken,
    body: { confirm: subdomain },
  });
}

/** The row as it is now. */
export async function rowOf({ db }: Target, { id }: Pick<Rental, "id">) {
  return db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

export async function settledAs(target: Target, rental: Pick<Rental, "id">, status: string, forMs = 60_000) {
  await until(`${rental.id} to be ${status}`, async () => (await rowOf(target, rental)).status === status, forMs);
}

/** In USD cents, by order: what was paid, and what of it went back or is on its way. */
export async function moneyOf({ db }: Target, userId: string) {
  return db
    .selectFrom("payments")
    .innerJoin("orders", "orders.id", "payments.order_id")
    .select(["orders.id", "orders.extends", "orders.status", "payments.amount_minor", "payments.refund_minor"])
    .where("payments.user_id", "=", userId)
    .where("payments.settles_order", "=", true)
    .execute();
}
