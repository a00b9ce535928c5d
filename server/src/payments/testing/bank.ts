import type { Proof } from "../embedded-provider/charge.ts";
import type { EmbeddedProvider } from "../embedded-provider/embedded-provider.ts";
import { dialectId } from "../embedded-provider/entities.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";

/** What cards, banks and the merchant do at the provider. */
export function bank({ db }: PaymentsDeps, gatewayUrl: string, { keyId, keySecret }: EmbeddedProvider) {
  return {
    /** A call of the merchant's, with the account's keys unless a header says otherwise; what is no object is sent as it is. */
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
    /** A payment that no card form would make: authorised only, of another amount, a second one of a paid order. */
    async addPayment(
      orderId: string,
      change: {
        status?: "created" | "authorized" | "captured" | "failed";
        amount_minor?: number;
        currency?: string;
        refunded_minor?: number;
      } = {},
    ) {
      const order = await db
        .selectFrom("embedded_gateway_orders")
        .selectAll()
        .where("id", "=", orderId)
        .executeTakeFirstOrThrow();
      const { amount_minor, currency } = order;
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
    },
  };
}
