import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Proof } from "../embedded-provider/charge.ts";
import { type Provider, ProviderError } from "../provider/provider.ts";

/** A provider implementation under test. */
export interface ProviderUnderTest {
  readonly provider: Provider;
  readonly keySecret: string;
  /** The same account with a wrong secret. */
  readonly outsider: Provider;
}

/** Actions of a browser and a bank, if they need no person. */
export interface Paying {
  pay(orderId: string): Promise<Proof>;
  /** Pays without capture; returns the payment's id. */
  authorize(orderId: string): Promise<string>;
  /** Pays by a method of the country, such as `{ method: "upi", vpa }`; returns the payment's id. */
  payBy(orderId: string, means: Readonly<Record<string, string>>): Promise<string>;
  /** Ends the wait of a payment for its buyer's approval. */
  endWait(paymentId: string): Promise<void>;
  /** Opens a dispute over 100 minor units; returns its id. */
  dispute(paymentId: string): Promise<string>;
}

const minute = 60_000;
const unknown = { order: "order_00000000000000", payment: "pay_00000000000000", refund: "rfnd_00000000000000" };

/** Contract tests of provider.ts for every implementation. */
export function providerSuite(
  name: string,
  under: () => Promise<ProviderUnderTest>,
  paying?: () => Promise<ProviderUnderTest & Paying>,
): void {
  const newOrder = async ({ provider }: ProviderUnderTest) => {
    const receipt = randomBytes(12).toString("hex");
    const order = { receipt, amountMinor: 21_200, currency: "INR", notes: { environment: "lab" } } as const;
    return { receipt, made: await provider.createOrder(order) };
  };

  describe(`${name} as a payment provider`, () => {
    test("makes an order, found by its receipt and by no other, and nobody has paid it", async () => {
      const parts = await under();
      const { receipt, made } = await newOrder(parts);
      expect(made).toEqual({
        id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
        receipt,
        amountMinor: 21_200,
        currency: "INR",
        status: "created",
      });
      const { provider } = parts;
      await expect.poll(() => provider.findOrderByReceipt(receipt)).toEqual(made);
      expect(await provider.findOrderByReceipt(`${receipt}x`)).toBe(undefined);
      expect(await provider.paymentsOfOrder(made.id)).toEqual([]);
    });

    test("refuses for good what cannot be an order", async () => {
      const { provider } = await under();
      const order = { receipt: "r", amountMinor: 21_200, currency: "INR", notes: {} } as const;
      for (const change of [{ amountMinor: 0 }, { amountMinor: -1 }, { amountMinor: 1.5 }, { receipt: "r".repeat(41) }])
        expect(await refusalOf(provider.createOrder({ ...order, ...change }))).toMatchObject({ retryable: false });
    });

    test("says for good that it does not know an id, whatever is asked about it", async () => {
      const { provider } = await under();
      const { order, payment, refund } = unknown;
      const key = randomBytes(12).toString("hex");
      for (const asked of [
        () => provider.paymentsOfOrder(order),
        () => provider.payment(payment),
        () => provider.capture(payment, 100, "INR"),
        () => provider.refund({ paymentId: payment, amountMinor: 100, key, notes: {} }),
        () => provider.refundsOfPayment(payment),
        () => provider.refundById(refund),
        () => provider.dispute("disp_00000000000000"),
        () => provider.payment("../orders"),
      ])
        expect(await refusalOf(asked())).toMatchObject({ retryable: false, httpStatus: expect.any(Number) });
    });

    test("answers 401 to another secret, on reads and writes", async () => {
      const { outsider } = await under();
      const order = { receipt: "r", amountMinor: 21_200, currency: "INR", notes: {} } as const;
      const now = new Date();
      for (const asked of [
        () => outsider.createOrder(order),
        () => outsider.payment(unknown.payment),
        () => outsider.paymentsBetween({ from: now, to: now, skip: 0, count: 1 }),
      ])
        expect(await refusalOf(asked())).toMatchObject({ retryable: false, httpStatus: 401 });
    });

    test("lists the payments of a window of time", async () => {
      const { provider } = await under();
      const long = new Date("2001-01-01T00:00:00Z");
      const window = { from: long, to: new Date(long.getTime() + minute), skip: 0, count: 100 };
      expect(await provider.paymentsBetween(window)).toEqual({ payments: [], isLast: true });
      const now = Date.now();
      const last = { from: new Date(now - minute), to: new Date(now), skip: 0, count: 100 };
      expect((await provider.paymentsBetween(last)).payments.length).toBeLessThanOrEqual(100);
    });

    test("a callback holds only as the lower-case hex of order and payment under its own secret", async () => {
      const { provider, keySecret } = await under();
      const signed = (text: string, secret = keySecret) => createHmac("sha256", secret).update(text).digest("hex");
      const { order: orderId, payment: paymentId } = unknown;
      const right = signed(`${orderId}|${paymentId}`);
      const holds = (signature: string) => provider.verifyCallback({ orderId, paymentId, signature });
      expect(holds(right)).toBe(true);
      for (const wrong of [
        right.toUpperCase(),
        right.slice(0, 63),
        `${right}0`,
        "",
        "0".repeat(64),
        "\u00e9".repeat(64),
        "\u00e9".repeat(32),
        signed(`${paymentId}|${orderId}`),
        signed(`${orderId}${paymentId}`),
        signed(`${orderId}|${paymentId}`, `${keySecret}x`),
      ])
        expect(holds(wrong), wrong).toBe(false);
    });

    if (!paying) return;

    test("a paid order: its payment by order, by id and by time, with a proof that holds", async () => {
      const parts = await paying();
      const { provider, pay } = parts;
      const { receipt, made } = await newOrder(parts);
      const proof = await pay(made.id);
      const { razorpay_payment_id: paymentId, razorpay_signature: signature } = proof;
      expect(provider.verifyCallback({ orderId: made.id, paymentId, signature })).toBe(true);
      const payment = await provider.payment(paymentId);
      expect(payment).toMatchObject({
        id: paymentId,
        orderId: made.id,
        status: "captured",
        amountMinor: 21_200,
        currency: "INR",
        refundedMinor: 0,
        method: "card",
        cardNetwork: "MasterCard",
        cardLast4: "4444",
      });
      expect(await provider.paymentsOfOrder(made.id)).toEqual([payment]);
      const now = Date.now();
      const window = { from: new Date(now - minute), to: new Date(now), skip: 0, count: 100 };
      expect((await provider.paymentsBetween(window)).payments).toContainEqual(payment);
      expect((await provider.paymentsBetween({ ...window, skip: 100 })).payments).toEqual([]);
      const earlier = { from: new Date(now - 60 * minute), to: new Date(now - 30 * minute) };
      expect((await provider.paymentsBetween({ ...window, ...earlier })).payments).toEqual([]);
      expect((await provider.findOrderByReceipt(receipt))?.status).toBe("paid");
    });

    test("UPI, a bank account and a wallet: the method, where the money came from, and no whole UPI address (G365, G367)", async () => {
      const parts = await paying();
      const paidBy = async (means: Readonly<Record<string, string>>) => {
        const id = await parts.payBy((await newOrder(parts)).made.id, means);
        const { status, method, paidFrom, cardNetwork, cardLast4, errorReason } = await parts.provider.payment(id);
        expect([cardNetwork, cardLast4]).toEqual([null, null]);
        return [status, method, paidFrom, errorReason];
      };
      expect(await paidBy({ method: "upi", vpa: "success@razorpay" })).toEqual([
        ...["captured", "upi", "su***@razorpay", null],
      ]);
      expect(await paidBy({ method: "upi", vpa: "failure@razorpay" })).toEqual([
        ...["failed", "upi", "fa***@razorpay", "payment_declined"],
      ]);
      expect(await paidBy({ method: "netbanking", bank: "HDFC" })).toEqual(["captured", "netbanking", "HDFC", null]);
      expect(await paidBy({ method: "netbanking", bank: "UTIB" })).toEqual([
        ...["failed", "netbanking", "UTIB", "payment_cancelled"],
      ]);
      expect(await paidBy({ method: "wallet", wallet: "mobikwik" })).toEqual(["captured", "wallet", "mobikwik", null]);
    });

    test("a payment that waits for an approval is no money: then it is captured, and pays back, or fails (G365)", async () => {
      const parts = await paying();
      const { provider } = parts;
      for (const [vpa, status, errorReason] of [
        ["pending@razorpay", "captured", null],
        ["expired@razorpay", "failed", "payment_collect_request_expired"],
      ] as const) {
        const { receipt, made } = await newOrder(parts);
        const id = await parts.payBy(made.id, { method: "upi", vpa });
        expect(await provider.payment(id)).toMatchObject({ status: "created", method: "upi", errorReason: null });
        expect((await provider.findOrderByReceipt(receipt))?.status).toBe("attempted");
        expect(await refusalOf(provider.capture(id, 21_200, "INR"))).toMatchObject({ retryable: false });
        await parts.endWait(id);
        await expect.poll(() => provider.payment(id), { timeout: 10_000 }).toMatchObject({ status, errorReason });
        const refund = { paymentId: id, amountMinor: 21_200, key: randomBytes(12).toString("hex"), notes: {} };
        if (status === "failed") expect(await refusalOf(provider.refund(refund))).toMatchObject({ retryable: false });
        else expect(await provider.refund(refund)).toMatchObject({ paymentId: id, amountMinor: 21_200 });
      }
    });

    test("a dispute is told by its id and among the newest ones", async () => {
      const parts = await paying();
      const { provider, pay } = parts;
      const { razorpay_payment_id: paymentId } = await pay((await newOrder(parts)).made.id);
      const id = await parts.dispute(paymentId);
      const dispute = await provider.dispute(id);
      expect(dispute).toEqual({
        ...{ id, paymentId, amountMinor: 100, currency: "INR", deductedMinor: 0, status: "open", phase: "fraud" },
        ...{ reasonCode: "fraud", respondBy: expect.any(Date), createdAt: expect.any(Date) },
      });
      expect(await provider.disputes()).toContainEqual(dispute);
    });

    test("pays back once for each key, and is asked about it by payment and by id", async () => {
      const parts = await paying();
      const { provider, pay } = parts;
      const { razorpay_payment_id: paymentId } = await pay((await newOrder(parts)).made.id);
      const asked = { paymentId, amountMinor: 10_000, key: randomBytes(12).toString("hex"), notes: {} };
      const refund = await provider.refund(asked);
      expect((await provider.refund(asked)).id).toBe(refund.id);
      expect(await refusalOf(provider.refund({ ...asked, amountMinor: 1 }))).toBeInstanceOf(ProviderError);
      expect(await provider.refundsOfPayment(paymentId)).toMatchObject([{ id: refund.id, paymentId }]);
      expect(await provider.refundById(refund.id)).toMatchObject({ amountMinor: 10_000, paymentId });
      expect((await provider.payment(paymentId)).refundedMinor).toBe(10_000);
      const rest = { ...asked, amountMinor: 11_201, key: randomBytes(12).toString("hex") };
      expect(await refusalOf(provider.refund(rest))).toMatchObject({ retryable: false });
    });

    test("captures what was only authorised, with the same amount and currency, once", async () => {
      const parts = await paying();
      const { provider, authorize } = parts;
      const paymentId = await authorize((await newOrder(parts)).made.id);
      expect((await provider.payment(paymentId)).status).toBe("authorized");
      expect(await refusalOf(provider.capture(paymentId, 21_199, "INR"))).toMatchObject({ retryable: false });
      expect(await refusalOf(provider.capture(paymentId, 21_200, "USD"))).toMatchObject({ retryable: false });
      expect((await provider.capture(paymentId, 21_200, "INR")).status).toBe("captured");
      expect(await refusalOf(provider.capture(paymentId, 21_200, "INR"))).toMatchObject({ retryable: false });
    });
  });
}

export async function refusalOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}
