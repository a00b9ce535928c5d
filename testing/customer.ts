import { type ContainerRequest, defaultPrices, major, type Prices, quote } from "@berth/contract";
import type { TypedCard } from "../server/src/payments/testing/card-traces.ts";

export interface Customer {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly idToken: string;
  readonly refreshToken: string;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response
  readonly body: any;
}

/** One call to the product at `url`; refusals are returned too. */
export async function send(
  url: string,
  method: string,
  path: string,
  { token, body }: { token?: string | undefined; body?: unknown } = {},
): Promise<Answer> {
  const response = await fetch(`${url.replace("localhost", "127.0.0.1")}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** Like `send`. @throws unless the status is 200 */
export async function must(...args: Parameters<typeof send>): Promise<Answer["body"]> {
  const { status, body } = await send(...args);
  if (status !== 200) throw new Error(`${args[1]} ${args[2]} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

let customers = 0;

/** Signs up like the browser: custom token, then sign-in with it. */
export async function signUp(url: string, name = "Ada Park"): Promise<Customer> {
  const email = `customer-${process.pid}-${Date.now()}-${customers++}@example.com`;
  const password = "a good password 1";
  const { access_token } = await must(url, "POST", "/auth/signup", { body: { email, password, name } });
  const { identity } = await must(url, "GET", "/config");
  const accounts = new URL(identity.accountsUrl, url).pathname;
  const signedIn = await must(url, "POST", `${accounts}:signInWithCustomToken?key=${identity.apiKey}`, {
    body: { token: access_token, returnSecureToken: true },
  });
  const { idToken, refreshToken } = signedIn;
  return { userId: signedIn.localId ?? subjectOf(idToken), email, password, idToken, refreshToken };
}

function subjectOf(idToken: string): string {
  return JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()).sub;
}

export interface OrderRequest {
  readonly subdomain: string;
  readonly gpuCount?: number;
  readonly duration?: number;
  readonly currency?: string;
  readonly type?: string;
  /** By default those of the built-in catalogue. */
  readonly prices?: Prices;
}

/** The body of create_order, with the current price. */
export function orderBody(
  customer: Customer,
  { subdomain, gpuCount = 2, duration = 1, currency = "USD", type = "jupyter", prices = defaultPrices }: OrderRequest,
) {
  const container_request: ContainerRequest = {
    user_id: customer.userId,
    container_type: type,
    subdomain,
    gpu_count: gpuCount,
    duration,
  };
  const amount = major(quote(prices, gpuCount, duration, currency).amountMinor);
  return { container_request, payment_request: { amount, currency, user_id: customer.userId, container_request } };
}

export interface Paid {
  readonly container_request: ContainerRequest;
  readonly payment_data: { razorpay_order_id: string; razorpay_payment_id: string; razorpay_signature: string };
}

/** Orders and pays through the embedded provider; returns the body of the create call. */
export async function orderAndPay(url: string, customer: Customer, request: OrderRequest): Promise<Paid> {
  const { body, order } = await orderOf(url, customer, request);
  return { container_request: body.container_request, payment_data: await pay(url, order) };
}

export async function orderOf(url: string, customer: Customer, request: OrderRequest) {
  const body = orderBody(customer, request);
  const order: { key_id: string; id: string } = await must(url, "POST", "/docker/payments/create_order", {
    token: customer.idToken,
    body,
  });
  return { body, order };
}

/** With an unmistakable CVV and year, because card-traces.ts searches for them. */
export const card: TypedCard = { number: "5555555555554444", cvv: "9137", month: "11", year: "2093" };

export async function pay(url: string, order: { key_id: string; id: string }, number = card.number) {
  return must(url, "POST", "/embedded-gateway/v1/payments/create/checkout", {
    body: {
      key_id: order.key_id,
      order_id: order.id,
      method: "card",
      card: { number, cvv: card.cvv, expiry_month: card.month, expiry_year: card.year },
    },
  });
}

/** Only for an order in rupees. */
export async function payByUpi(
  url: string,
  { key_id, id: order_id }: { key_id: string; id: string },
  vpa = "success@razorpay",
) {
  const body = { key_id, order_id, method: "upi", vpa };
  return must(url, "POST", "/embedded-gateway/v1/payments/create/checkout", { body });
}

export function create(url: string, customer: Customer, paid: Paid): Promise<Answer> {
  return send(url, "POST", "/docker/environment/create", { token: customer.idToken, body: paid });
}

export async function profileOf(url: string, { userId, idToken }: Customer) {
  return must(url, "GET", `/profile/${userId}`, { token: idToken });
}

/** Polls every 25 ms, or `everyMs`, until `poll` returns something truthy. @throws with `what` after the timeout */
export async function until<T>(
  what: string,
  poll: () => Promise<T | undefined | false>,
  timeoutMs = 60_000,
  everyMs = 25,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await poll();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timeout after ${timeoutMs / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
