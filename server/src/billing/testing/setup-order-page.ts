import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { setup as money } from "../../payments/testing/setup.ts";
import { readOrder } from "../read-order.ts";

/** The money side, with ada's page of an order as it is now. */
export async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { db, rowOf, order, pay, payments, provider } = shop;
  return {
    ...shop,
    async page(gatewayOrderId: string) {
      const found = await readOrder(db, "ada", (await rowOf(gatewayOrderId)).id);
      if (!found) throw new Error("no such order");
      return { ...found, kinds: found.timeline.map(({ kind }) => kind) };
    },
    /** Ordered and paid, and the payment noted; nothing delivers it unless the reconciler runs. */
    async paid(...request: Parameters<typeof order>) {
      const { id } = (await order(...request)).body;
      const { body: proof } = await pay(id);
      await settlePayment(payments, await provider.payment(proof.razorpay_payment_id));
      return { id, proof };
    },
  };
}
