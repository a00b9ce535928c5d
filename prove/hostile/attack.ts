import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Db } from "../../server/src/database/database.ts";
import { builtOperator } from "../../server/src/testing/built-programs.ts";
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
import { environment } from "../../testing/environment.ts";
import { type Product, toolsDir } from "../../testing/product.ts";
import { addressOf, type EnvironmentAddress } from "../notebook.ts";

/** A started product, with its database to simulate the passing of time. */
export interface Target {
  /** Settings it was started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Replaced after a restart. */
  product: Product;
  readonly db: Db;
}

/** The number of tries, and a text for each success. */
interface Outcome {
  readonly tries: number;
  readonly successes: readonly string[];
}

export interface Attack {
  /** The goal of the attack; the number is the audit's. */
  readonly name: string;
  /** Takes minutes; the quick run skips it. */
  readonly slow?: boolean;
  run(target: Target): Promise<Outcome>;
}

export interface Rental {
  readonly customer: Customer;
  readonly id: string;
  readonly subdomain: string;
  readonly orderId: string;
  readonly address: EnvironmentAddress;
}

let names = 0;

/** A name that is unique in this run. */
export function newName(of: string): string {
  return `${of}-${names++}`;
}

/** Rents a running environment, for a new customer by default. */
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
  const address = await addressOf(product, who.idToken, id);
  return { customer: who, id, subdomain, orderId: paid.payment_data.razorpay_order_id, address };
}

/** Runs an action of the owner; returns the HTTP status. */
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

/** Paid and refunded amounts by order, in USD cents. */
export async function moneyOf({ db }: Target, userId: string) {
  return db
    .selectFrom("payments")
    .innerJoin("orders", "orders.id", "payments.order_id")
    .select(["orders.id", "orders.extends", "orders.status", "payments.amount_minor", "payments.refund_minor"])
    .where("payments.user_id", "=", userId)
    .where("payments.settles_order", "=", true)
    .execute();
}

/** Runs a command of the operator. */
export async function operate(
  dataDir: string,
  words: readonly string[],
  timeout = 0,
): Promise<{ readonly code: number; readonly said: string }> {
  const env = { ...environment.shell, DATA_DIR: dataDir, RUNTIMES_DIR: toolsDir };
  return await promisify(execFile)(process.execPath, [builtOperator, ...words], { env, timeout }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stdout, stderr }) => ({ code: code ?? 1, said: `${stdout}${stderr}` }),
  );
}
