import { withTimeout } from "../../async/with-timeout.ts";
import { ConfigError } from "../../config/config.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { type Provider, ProviderError } from "./provider.ts";

const timeoutMs = 2000;

/**
 * Checks the keys at the provider once, at the start. Throws `ConfigError` on a 401. Other errors and a timeout are only
 * logged, so that running environments stay available.
 */
export async function checkKeys(provider: Provider, log: Logger): Promise<void> {
  const now = new Date();
  const asked = provider.paymentsBetween({ from: now, to: now, skip: 0, count: 1 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const error = await withTimeout(asked, timeoutMs, () => undefined);
  if (error instanceof ProviderError && error.httpStatus === 401)
    throw new ConfigError("RAZORPAY_KEY_ID and RAZORPAY_KEY_SECRET: the provider does not know these keys");
  if (error) log.warn({ event: "provider.unreachable", err: error });
}
