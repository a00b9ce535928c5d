import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { setup as money } from "../../payments/testing/setup.ts";
import { readOrder } from "../read-order.ts";

/** The payments modules, with ada's current page of an order. */
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
    /** Orders, pays and settles; without the reconciler nothing is delivered. */
    async paid(...request: Parameters<typeof order>) {
      const { id } = (await order(...request)).body;
      const { body: proof } = await pay(id);
      await settlePayment(payments, await provider.payment(proof.razorpay_payment_id));
      return { id, proof };
    },
  };
}
