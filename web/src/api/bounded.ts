import { ApiError } from "./api-error.ts";

/** Longer than the server's own calls take; what it holds back longer names a bound of its own (G357). */
const answerMs = 30_000;

interface Bound {
  readonly signal?: AbortSignal | undefined;
  readonly withinMs?: number | undefined;
}

/**
 * Runs a request until the caller aborts it or the time is over, its body included: a browser waits for ever for an answer
 * that was lost. Throws `network` then.
 */
export async function bounded<Answer>(
  run: (signal: AbortSignal) => Promise<Answer>,
  { signal, withinMs = answerMs }: Bound = {},
): Promise<Answer> {
  const end = new AbortController();
  const stop = () => end.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  const timer = setTimeout(() => end.abort(noAnswer()), withinMs);
  try {
    return await run(end.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

export function noAnswer(): ApiError {
  return new ApiError("network", "Network error. Please check your connection and try again.", 0);
}
