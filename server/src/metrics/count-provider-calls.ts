import { type Provider, ProviderError } from "../payments/provider/provider.ts";
import type { Metrics } from "./create-metrics.ts";

type ProviderMetrics = Pick<Metrics, "providerCalls" | "providerSeconds" | "providerUp">;

/** The same provider, whose calls are counted and timed. */
export function countProviderCalls(provider: Provider, metrics: ProviderMetrics): Provider {
  const { kind, mode, keyId, minimumMinor, verifyCallback, ...calls } = provider;
  const counted = Object.entries(calls).map(([call, send]) => [call, countCall(call, send as Call, metrics)]);
  return { kind, mode, keyId, minimumMinor, verifyCallback, ...(Object.fromEntries(counted) as typeof calls) };
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

function countCall(call: string, send: Call, { providerCalls, providerSeconds, providerUp }: ProviderMetrics): Call {
  const end = (result: "ok" | "refused" | "unavailable") => {
    providerCalls.inc({ call, result });
    providerUp.set(result === "unavailable" ? 0 : 1);
  };
  return async (...args) => {
    const stop = providerSeconds.startTimer({ call });
    try {
      const answer = await send(...args);
      end("ok");
      return answer;
    } catch (error) {
      end(error instanceof ProviderError && !error.retryable ? "refused" : "unavailable");
      throw error;
    } finally {
      stop();
    }
  };
}
