import { ApiError } from "./api-error.ts";

/** Longer than the server's own calls take; what it holds back longer names a bound of its own (G357). */
const answerMs = 30_000;

/**
 * A signal for one request and its body: aborts with the caller's, and with `network` when the time is over. A browser waits
 * for ever for an answer that was lost.
 */
export function bounded(signal?: AbortSignal, withinMs = answerMs): AbortSignal {
  const end = new AbortController();
  setTimeout(() => end.abort(noAnswer()), withinMs);
  signal?.addEventListener("abort", () => end.abort(signal.reason));
  if (signal?.aborted) end.abort(signal.reason);
  return end.signal;
}

export function noAnswer(): ApiError {
  return new ApiError("network", "Network error. Please check your connection and try again.", 0);
}
