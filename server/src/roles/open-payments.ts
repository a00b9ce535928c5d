import type { Loop } from "../async/start-interval.ts";
import type { Config } from "../config/config.ts";
import type { OperatorPages } from "../http/operator-pages.ts";
import type { Logger } from "../logging/create-logger.ts";
import { countProviderCalls } from "../metrics/count-provider-calls.ts";
import type { Metrics } from "../metrics/create-metrics.ts";
import { embeddedProvider, embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import { startOrderPoller } from "../payments/orders/order-poller.ts";
import { checkKeys } from "../payments/provider/check-keys.ts";
import { type Lane, paceCalls } from "../payments/provider/pace-calls.ts";
import type { PaymentsDeps } from "../payments/provider/payments-deps.ts";
import type { Provider } from "../payments/provider/provider.ts";
import { razorpay } from "../payments/provider/razorpay.ts";
import { startRefundSender } from "../payments/refunds/refund-sender.ts";
import { startDisputePoller } from "../payments/settlement/dispute-poller.ts";
import { startPaymentSweep } from "../payments/settlement/payment-sweep.ts";
import { startWebhookProcessor } from "../payments/settlement/webhook-processor.ts";
import { serveOwnProvider } from "./serve-own-provider.ts";

interface PaymentDeps extends Pick<PaymentsDeps, "db" | "changes" | "announce" | "log" | "checkRoom"> {
  readonly metrics: Metrics;
  /** Guards the embedded provider's page of outcomes. */
  readonly local: OperatorPages;
}

/**
 * Opens the configured payment provider, Razorpay or the embedded one, and closes it with the stack. Throws `ConfigError` if
 * it rejects the keys.
 */
export async function openPayments(
  config: Config,
  port: number,
  { metrics, local, ...deps }: PaymentDeps,
  resources: AsyncDisposableStack,
) {
  const { payments: keys, caps, brand, catalogue, giveUpAfterSeconds, seller } = config;
  const sale = { ...deps, caps, catalogue, brandName: brand.name, giveUpAfterSeconds, seller };
  const onDelay = (lane: Lane) => metrics.providerDelays.inc({ lane });
  const paced = (provider: Provider) => {
    const calls = paceCalls(countProviderCalls(provider, metrics), { log: deps.log, onDelay });
    return { calls, common: { ...sale, provider: calls.at("buyer") } };
  };
  if (keys.kind === "razorpay") {
    const minimumMinor = { USD: 50, INR: 100 };
    const { calls, common } = paced(razorpay({ ...keys, baseUrl: keys.url, minimumMinor, log: deps.log }));
    await checkKeys(common.provider, deps.log);
    const payments = { ...common, webhookSecrets: keys.webhookSecrets };
    return { payments, calls, embeddedProvider: undefined };
  }
  const own = await embeddedProvider({ db: deps.db });
  const webhookSecrets = [own.webhookSecret];
  const embedded = { kind: "embedded", mode: "embedded", minimumMinor: { USD: 1, INR: 1 } } as const;
  let address = `http://127.0.0.1:${port}`;
  if (!config.roles.has("api")) {
    const server = await serveOwnProvider({ own, local, db: deps.db, provider: embedded, webhookSecrets });
    resources.defer(server.close);
    address = server.address;
  }
  const baseUrl = `${address}${embeddedProviderPath}`;
  const { calls, common } = paced(razorpay({ ...own, baseUrl, ...embedded }));
  return { payments: { ...common, webhookSecrets }, calls, embeddedProvider: { ...own, address } };
}

/** A worker's payment loops. */
export function paymentLoops(
  { payments, calls, embeddedProvider: own }: Awaited<ReturnType<typeof openPayments>>,
  log: Logger,
): Loop[] {
  const at = (lane: Lane) => ({ ...payments, provider: calls.at(lane) });
  return [
    startOrderPoller({ ...at("poll"), pollBudget: calls }),
    startRefundSender(at("refund")),
    startWebhookProcessor(at("payment")),
    // One call for a hundred payments: it goes before polls, which have one each.
    startPaymentSweep(at("payment")),
    startDisputePoller(at("refund")),
    ...(own ? [own.startWebhookSender(`${own.address}/webhooks/razorpay`, log)] : []),
  ];
}
