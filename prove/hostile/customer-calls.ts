import { send, until } from "../../testing/customer.ts";
import type { Rental, Target } from "./attack.ts";

/** Releases all holds, like dismissing the payment dialog. */
export async function clear({ product, db }: Target, { userId, idToken: token }: Rental["customer"]): Promise<void> {
  const open = await db
    .selectFrom("orders")
    .select("gateway_order_id")
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .execute();
  for (const { gateway_order_id } of open)
    await send(product.url, "POST", `/docker/payments/clear/${gateway_order_id}`, { token });
}

export async function signInFrom(url: string, network: string, body: object): Promise<number> {
  const answer = await fetch(`${url.replace("localhost", "127.0.0.1")}/identity/v1/accounts:signInWithPassword`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": network },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

export async function codeMailedTo({ db }: Target, email: string): Promise<string> {
  return until("the mail", async () => {
    const mail = await db
      .selectFrom("mails")
      .select("body_text")
      .where("recipient", "=", email)
      .orderBy("created_at", "desc")
      .executeTakeFirst();
    return /reset-password\?oobCode=(\S+)/.exec(mail?.body_text ?? "")?.[1];
  });
}

/** A full refund in the provider's dashboard. */
export async function refundOutside({ product, db }: Target, orderId: string): Promise<void> {
  const { gateway_payment_id, amount_minor } = await db
    .selectFrom("payments")
    .innerJoin("orders", "orders.id", "payments.order_id")
    .select(["payments.gateway_payment_id", "payments.amount_minor"])
    .where("orders.gateway_order_id", "=", orderId)
    .executeTakeFirstOrThrow();
  const { key_id, key_secret } = await db.selectFrom("embedded_gateway_account").selectAll().executeTakeFirstOrThrow();
  const answer = await fetch(
    `${product.url.replace("localhost", "127.0.0.1")}/embedded-gateway/v1/payments/${gateway_payment_id}/refund`,
    {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Basic ${Buffer.from(`${key_id}:${key_secret}`).toString("base64")}`,
      },
      body: JSON.stringify({ amount: amount_minor }),
    },
  );
  if (answer.status !== 200) throw new Error(`the refund answered ${answer.status}: ${await answer.text()}`);
}
