import { dialectId } from "../embedded-provider/entities.ts";
import { providerSuite } from "../testing/provider.suite.ts";
import { setup } from "../testing/setup.ts";
import { razorpay } from "./razorpay.ts";

async function embedded() {
  const { db, provider, gateway, gatewayUrl, pay, payBy, endWait, addPayment, ...loops } = await setup();
  loops.runWebhookSender(gatewayUrl);
  const account = { ...gateway, kind: "embedded", mode: "embedded", minimumMinor: provider.minimumMinor } as const;
  return {
    provider,
    keySecret: gateway.keySecret,
    outsider: razorpay({ ...account, baseUrl: gatewayUrl, keySecret: "another" }),
    pay: async (orderId: string) => (await pay(orderId)).body,
    async payBy(orderId: string, means: Readonly<Record<string, string>>) {
      const { body } = await payBy(orderId, means);
      return body.razorpay_payment_id ?? body.payment_id ?? body.error.metadata.payment_id;
    },
    async endWait(paymentId: string) {
      await endWait(paymentId);
      loops.wake();
    },
    authorize: (orderId: string) => addPayment(orderId, { status: "authorized" }),
    async dispute(payment_id: string) {
      const id = dialectId("disp");
      const row = { id, payment_id, amount_minor: 100, reason_code: "fraud", phase: "fraud" };
      await db.insertInto("embedded_gateway_disputes").values(row).execute();
      return id;
    },
  };
}

providerSuite("the embedded gateway", embedded, embedded);

const keyId = process.env["RAZORPAY_TEST_KEY_ID"];
const keySecret = process.env["RAZORPAY_TEST_KEY_SECRET"];
if (keyId && keySecret) {
  if (!keyId.startsWith("rzp_test_")) throw new Error("RAZORPAY_TEST_KEY_ID is no key of test mode");
  const account = { keyId, kind: "razorpay", mode: "test", minimumMinor: { USD: 50, INR: 100 } } as const;
  const at = { ...account, baseUrl: "https://api.razorpay.com/v1" };
  const client = { keySecret, provider: razorpay({ ...at, keySecret }), outsider: razorpay({ ...at, keySecret: "x" }) };
  // Payments at Razorpay need a person and a browser.
  providerSuite("Razorpay in test mode", async () => client);
}
