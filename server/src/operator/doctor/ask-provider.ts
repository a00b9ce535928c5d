import type { Config } from "../../config/config.ts";
import { ProviderError } from "../../payments/provider/provider.ts";
import { razorpay } from "../../payments/provider/razorpay.ts";

/**
 * Asks the payment provider of the settings for a list that is empty, so that an outage is known before anybody orders
 * (G160). Returns a sentence for a fault. The embedded provider is part of the server, and is not asked.
 */
export async function askProvider({ payments: keys }: Pick<Config, "payments">): Promise<readonly string[]> {
  if (keys.kind !== "razorpay") return [];
  const provider = razorpay({ ...keys, baseUrl: keys.url, minimumMinor: {} });
  const now = new Date();
  try {
    await provider.paymentsBetween({ from: now, to: now, skip: 0, count: 1 });
    return [];
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return [error.httpStatus === 401 ? "The provider does not know the keys of the settings" : sentence(error)];
  }
}

function sentence({ code, message }: ProviderError): string {
  return code === "NETWORK" ? "The payment provider does not answer" : `The payment provider has errors: ${message}`;
}
