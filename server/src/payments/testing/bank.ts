import { sql } from "kysely";
import type { Proof } from "../embedded-provider/charge.ts";
import type { EmbeddedProvider } from "../embedded-provider/embedded-provider.ts";
import { dialectId } from "../embedded-provider/entities.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";

type PaymentChange = {
  readonly status?: "created" | "authorized" | "captured" | "failed";
  readonly amount_minor?: number;
  readonly currency?: string;
  readonly refunded_minor?: number;
};

/** Actions of cards, banks and the merchant at the provider. */
export function bank({ db }: PaymentsDeps, gatewayUrl: string, { keyId, keySecret }: EmbeddedProvider) {
  return {
    /** A merchant call with the account's keys, unless a header overrides them. A string body is sent unchanged. */
    async asMerchant(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${gatewayUrl}${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: the answers of another company's dialect
      return { status: response.status, body: (await response.json()) as any };
    },
    async pay(orderId: string, number = "5555 5555 5555 4444") {
      const card = { number, cvv: "123", expiry_month: "12", expiry_year: "34" };
      const response = await fetch(`${gatewayUrl}/payments/create/checkout`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key_id: keyId, order_id: orderId, method: "card", card }),
      });
      const body = (await response.json()) as Proof & { error: { code: string; reason: string; description: string } };
      return { status: response.status, body };
    },
    /** Pays by another method than a card, such as `{ method: "upi", vpa }`. */
    async payBy(orderId: string, means: Readonly<Record<string, string>>) {
      const body = JSON.stringify({ key_id: keyId, order_id: orderId, ...means });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${gatewayUrl}/payments/create/checkout`, { method: "POST", headers, body });
      const answer = (await response.json()) as Proof & {
        error: { reason: string; metadata: { payment_id: string } };
        type?: string;
        payment_id: string;
      };
      return { status: response.status, body: answer };
    },
    /** Lets the time pass that a payment waits for its approval, or for its end. */
    async endWait(paymentId: string) {
      await db
        .updateTable("embedded_gateway_payments")
        .set({
          authorizes_at: sql`case when authorizes_at is not null then now() end`,
          expires_at: sql`case when expires_at is not null then now() end`,
        })
        .where("id", "=", paymentId)
        .execute();
    },
    /** Inserts a payment that the dialog cannot make: authorized only, of another amount, a second one of a paid order. */
    addPayment: (orderId: string, change: PaymentChange = {}) => addPayment(db, orderId, change),
  };
}

async function addPayment(db: PaymentsDeps["db"], orderId: string, change: PaymentChange): Promise<string> {
  const { amount_minor, currency } = await db
    .selectFrom("embedded_gateway_orders")
    .selectAll()
    .where("id", "=", orderId)
    .executeTakeFirstOrThrow();
  const row = {
    id: dialectId("pay"),
    order_id: orderId,
    amount_minor,
    currency,
    status: "captured" as const,
    ...change,
  };
  await db
    .insertInto("embedded_gateway_payments")
    .values({ ...row, card_network: "Visa", card_last4: "1111" })
    .execute();
  return row.id;
}
