import * as z from "zod";
import type { Logger } from "../../logging/create-logger.ts";
import { isSigned } from "./is-signed.ts";
import {
  type Provider,
  type ProviderDispute,
  ProviderError,
  type ProviderOrder,
  type ProviderPayment,
  type ProviderRefund,
} from "./provider.ts";
import { shortenVpa } from "./shorten-vpa.ts";

interface RazorpayOptions {
  /** Razorpay's `https://api.razorpay.com/v1`, or this server's embedded provider, whose port is known only later. */
  readonly baseUrl: string | (() => string);
  readonly keyId: string;
  readonly keySecret: string;
  readonly kind: Provider["kind"];
  readonly mode: Provider["mode"];
  readonly minimumMinor: Readonly<Record<string, number>>;
  /** Timeout of one call. */
  readonly timeoutMs?: number;
  /** For invalid list items, which are skipped. */
  readonly log?: Logger;
}

interface Call {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const maybe = z.string().nullish();
const paymentStatuses = ["created", "authorized", "captured", "refunded", "failed"] as const;
const order = z
  .object({
    id: z.string().min(1),
    receipt: maybe,
    amount: z.int(),
    currency: z.string(),
    status: z.enum(["created", "attempted", "paid"]),
  })
  .transform(
    ({ id, receipt, amount, currency, status }): ProviderOrder => ({
      id,
      receipt: receipt ?? "",
      amountMinor: amount,
      currency,
      status,
    }),
  );
const payment = z
  .object({
    id: z.string().min(1),
    order_id: maybe,
    amount: z.int(),
    currency: z.string(),
    // Other statuses, such as `pending` for cash on delivery, mean that no money is there yet.
    status: z.string().transform((status) => paymentStatuses.find((known) => known === status) ?? ("created" as const)),
    amount_refunded: z.int().nullish(),
    method: maybe,
    // Empty maps come as empty lists.
    card: z.object({ network: maybe, last4: maybe }).nullish().catch(null),
    vpa: maybe,
    bank: maybe,
    wallet: maybe,
    fee: z.int().nullish(),
    error_code: maybe,
    error_reason: maybe,
    created_at: z.int(),
  })
  .transform(
    (entity): ProviderPayment => ({
      id: entity.id,
      orderId: entity.order_id ?? "",
      amountMinor: entity.amount,
      currency: entity.currency,
      status: entity.status === "refunded" ? "captured" : entity.status,
      refundedMinor: entity.amount_refunded ?? (entity.status === "refunded" ? entity.amount : 0),
      method: entity.method ?? null,
      cardNetwork: entity.card?.network ?? null,
      cardLast4: entity.card?.last4 ?? null,
      paidFrom: (entity.vpa && shortenVpa(entity.vpa)) || entity.bank || entity.wallet || null,
      feeMinor: entity.fee ?? null,
      errorCode: entity.error_code ?? null,
      errorReason: entity.error_reason ?? null,
      createdAt: new Date(entity.created_at * 1000),
    }),
  );
const refund = z
  .object({
    id: z.string().min(1),
    payment_id: z.string(),
    amount: z.int(),
    status: z.enum(["pending", "processed", "failed"]),
    acquirer_data: z
      .object({ arn: z.union([z.string(), z.number().transform(String)]).nullish() })
      .nullish()
      .catch(null),
  })
  .transform(
    ({ id, payment_id, amount, status, acquirer_data }): ProviderRefund => ({
      id,
      paymentId: payment_id,
      amountMinor: amount,
      status,
      arn: acquirer_data?.arn ?? null,
    }),
  );
const dispute = z
  .object({
    id: z.string().min(1),
    payment_id: z.string().min(1),
    amount: z.int().positive(),
    amount_deducted: z.int().nonnegative().nullish(),
    currency: z.string(),
    reason_code: maybe,
    phase: z.string(),
    // `action_required`: more evidence is needed, so the dispute is open again.
    status: z
      .enum(["open", "action_required", "under_review", "won", "lost", "closed"])
      .transform((status) => (status === "action_required" ? "open" : status)),
    respond_by: z.int().nullish(),
    created_at: z.int(),
  })
  .transform(
    (entity): ProviderDispute => ({
      id: entity.id,
      paymentId: entity.payment_id,
      amountMinor: entity.amount,
      currency: entity.currency,
      deductedMinor: entity.amount_deducted ?? 0,
      status: entity.status,
      phase: entity.phase,
      reasonCode: entity.reason_code ?? null,
      respondBy: entity.respond_by ? new Date(entity.respond_by * 1000) : null,
      createdAt: new Date(entity.created_at * 1000),
    }),
  );
const failure = z.object({ error: z.object({ code: z.string(), description: maybe, reason: maybe }) });

/**
 * Client for Razorpay's dialect (docs/internals/money.md). The official SDK has no timeout, cannot send the refund's
 * idempotency key and does not escape ids. Every call throws `ProviderError`.
 */
export function razorpay(options: RazorpayOptions): Provider {
  const { keyId, keySecret, kind, mode, minimumMinor } = options;
  const call = <T>(path: string, schema: z.ZodType<T>, request?: Call) => send(options, path, schema, request);
  const callList = <T>(path: string, item: z.ZodType<T>) => list(options, path, item);
  const id = encodeURIComponent;
  return {
    kind,
    mode,
    keyId,
    minimumMinor,
    createOrder: ({ receipt, amountMinor, currency, notes }) => {
      const payment = {
        capture: "automatic",
        capture_options: { automatic_expiry_period: 30, manual_expiry_period: 7200, refund_speed: "normal" },
      };
      const body = { amount: amountMinor, currency, receipt, notes, payment };
      return call("/orders", order, { method: "POST", body });
    },
    findOrderByReceipt: async (receipt) => {
      const { items } = await call(`/orders?receipt=${id(receipt)}`, z.object({ items: z.array(order) }));
      // Compared here too: if the filter were ignored, another buyer's order would be returned.
      return items.find((item) => item.receipt === receipt);
    },
    paymentsOfOrder: async (orderId) =>
      (await callList(`/orders/${id(orderId)}/payments?expand[]=card`, payment)).items,
    paymentsBetween: async ({ from, to, skip, count }) => {
      const window = `from=${seconds(from)}&to=${seconds(to)}&count=${count}&skip=${skip}`;
      const { items, size } = await callList(`/payments?${window}&expand[]=card`, payment);
      return { payments: items, isLast: size < count };
    },
    payment: (paymentId) => call(`/payments/${id(paymentId)}?expand[]=card`, payment),
    capture: (paymentId, amountMinor, currency) => {
      const body = { amount: amountMinor, currency };
      return call(`/payments/${id(paymentId)}/capture`, payment, { method: "POST", body });
    },
    refund: ({ paymentId, amountMinor, key, notes }) => {
      const body = { amount: amountMinor, speed: "normal", notes, receipt: key };
      const headers = { "x-refund-idempotency": key };
      return call(`/payments/${id(paymentId)}/refund`, refund, { method: "POST", body, headers });
    },
    refundsOfPayment: async (paymentId) =>
      (await callList(`/payments/${id(paymentId)}/refunds?count=100`, refund)).items,
    refundById: (refundId) => call(`/refunds/${id(refundId)}`, refund),
    dispute: (disputeId) => call(`/disputes/${id(disputeId)}`, dispute),
    disputes: async () => (await callList("/disputes?count=100", dispute)).items,
    verifyCallback: ({ orderId, paymentId, signature }) => isSigned(`${orderId}|${paymentId}`, signature, keySecret),
  };
}

async function send<T>(options: RazorpayOptions, path: string, schema: z.ZodType<T>, request: Call = {}): Promise<T> {
  const { baseUrl, keyId, keySecret, timeoutMs = 10_000 } = options;
  const base = typeof baseUrl === "string" ? baseUrl : baseUrl();
  const { status, text, retryAfterMs } = await exchange(`${base}${path}`, {
    method: request.method ?? "GET",
    headers: {
      authorization: `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`,
      ...(request.body !== undefined && { "content-type": "application/json" }),
      ...request.headers,
    },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const body = parse(text);
  if (status >= 400) throw refusal(status, body, retryAfterMs);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ProviderError(`invalid response to ${path}`, {
    retryable: true,
    code: "INVALID_ANSWER",
    httpStatus: status,
    cause: parsed.error,
  });
}

const page = z.object({ items: z.array(z.unknown()) });

/** Skips and logs invalid items; `size` counts all items. */
async function list<T>(
  options: RazorpayOptions,
  path: string,
  item: z.ZodType<T>,
): Promise<{ items: T[]; size: number }> {
  const all = (await send(options, path, page)).items;
  const items = all.flatMap((each) => {
    const parsed = item.safeParse(each);
    if (parsed.success) return [parsed.data];
    const id = z.object({ id: z.string() }).safeParse(each).data?.id ?? "item without an id";
    const [issue] = parsed.error.issues;
    const reason = `skipped in ${path}: ${id}, ${issue?.path.join(".")}: ${issue?.message}`;
    options.log?.warn({ event: "provider.row_unreadable" }, reason);
    return [];
  });
  return { items, size: all.length };
}

interface Exchange {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

async function exchange(url: string, init: RequestInit): Promise<Exchange> {
  try {
    const response = await fetch(url, init);
    // In seconds; a date, which nobody sends for so short a time, is passed over.
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined;
    return { status: response.status, text: await response.text(), retryAfterMs };
  } catch (cause) {
    throw new ProviderError("the payment provider does not answer", { retryable: true, code: "NETWORK", cause });
  }
}

/** Retryable: 408, 409 (a refund in progress under the same key), 429 and server errors. Other refusals are final. */
function refusal(httpStatus: number, body: unknown, retryAfterMs: number | undefined): ProviderError {
  const { error } = failure.safeParse(body).data ?? { error: { code: `HTTP_${httpStatus}` } as const };
  const retryable =
    httpStatus >= 500 || [408, 409, 429].includes(httpStatus) || ["GATEWAY_ERROR", "SERVER_ERROR"].includes(error.code);
  const description = "description" in error ? error.description : undefined;
  return new ProviderError(description ?? `HTTP ${httpStatus}`, {
    ...{ retryable, code: error.code, httpStatus, retryAfterMs },
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}
