import { mapCalls, type Send } from "../payments/provider/map-calls.ts";
import { type Provider, ProviderError } from "../payments/provider/provider.ts";
import type { Metrics } from "./create-metrics.ts";

type ProviderMetrics = Pick<Metrics, "providerCalls" | "providerSeconds" | "providerUp">;

/** The same provider, whose calls are counted and timed. */
export function countProviderCalls(provider: Provider, metrics: ProviderMetrics): Provider {
  return mapCalls(provider, (call, send) => countCall(call, send, metrics));
}

function countCall(call: string, send: Send, { providerCalls, providerSeconds, providerUp }: ProviderMetrics): Send {
  const end = (result: "ok" | "refused" | "limited" | "unavailable") => {
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
      end(error instanceof ProviderError ? resultOf(error) : "unavailable");
      throw error;
    } finally {
      stop();
    }
  };
}

function resultOf({ retryable, httpStatus }: ProviderError): "refused" | "limited" | "unavailable" {
  if (httpStatus === 429) return "limited";
  return retryable ? "unavailable" : "refused";
}
