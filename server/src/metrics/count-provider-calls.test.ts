import { expect, test } from "vitest";
import { type Provider, ProviderError } from "../payments/provider/provider.ts";
import { countProviderCalls } from "./count-provider-calls.ts";
import { createMetrics } from "./create-metrics.ts";
import { samplesOf } from "./testing/scrape.ts";

async function setup(answer: () => Promise<unknown>) {
  const metrics = createMetrics();
  const provider = countProviderCalls(
    {
      ...{ kind: "embedded", mode: "embedded", keyId: "key", minimumMinor: { USD: 1, INR: 1 } },
      ...{ verifyCallback: () => true, payment: answer },
    } as unknown as Provider,
    metrics,
  );
  return { provider, read: async () => samplesOf(await metrics.registry.metrics()) };
}

const refusal = new ProviderError("no such payment", { retryable: false, code: "BAD_REQUEST_ERROR" });
const limit = new ProviderError("too many", { retryable: true, code: "BAD_REQUEST_ERROR", httpStatus: 429 });
const silence = new ProviderError("no answer", { retryable: true, code: "NETWORK" });

test.each([
  { what: "an answer", answer: async () => "paid", result: "ok", up: 1 },
  { what: "a refusal", answer: () => Promise.reject(refusal), result: "refused", up: 1 },
  { what: "a call too many", answer: () => Promise.reject(limit), result: "limited", up: 1 },
  { what: "silence", answer: () => Promise.reject(silence), result: "unavailable", up: 0 },
])("$what of the provider is counted as $result and reaches the caller", async ({ answer, result, up }) => {
  const { provider, read } = await setup(answer);
  expect((await read()).has("berth_provider_up")).toBe(false);
  const seen = await provider.payment("pay_1").then(String, String);
  expect(seen).toBe(await answer().then(String, String));
  const samples = await read();
  expect(samples.get(`berth_provider_calls_total{call="payment",result="${result}"}`)).toBe(1);
  expect(samples.get("berth_provider_up")).toBe(up);
  expect(samples.get('berth_provider_call_seconds_count{call="payment"}')).toBe(1);
  expect(provider.verifyCallback({ orderId: "o", paymentId: "p", signature: "s" })).toBe(true);
});
