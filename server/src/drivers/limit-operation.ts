import { DriverError } from "./driver.ts";

const timeoutMs = 9_000;

interface LimitOptions {
  /** The subject of the sentence about the timeout. */
  readonly called: string;
  readonly explain: (error: unknown) => unknown;
  /** Aborts the operation earlier. */
  readonly given?: AbortSignal | undefined;
}

/**
 * Runs one operation of a driver: `work` gets a signal for its calls and ends within 9 s, or this throws `unavailable`.
 * Other errors are thrown as `explain` returns them.
 */
export async function limitOperation<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { called, explain, given }: LimitOptions,
): Promise<T> {
  given?.throwIfAborted();
  const ending = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  // Raced, because a connection that is cut within a response is never reported.
  const end = (error: unknown) => {
    reject(error);
    ending.abort(error);
  };
  const message = `${called} did not answer within ${timeoutMs / 1000} s`;
  const timer = setTimeout(() => end(new DriverError("unavailable", message)), timeoutMs);
  const cancel = () => end(given?.reason);
  given?.addEventListener("abort", cancel);
  try {
    return await Promise.race([work(ending.signal), ended]);
  } catch (error) {
    throw explain(ending.signal.aborted ? ending.signal.reason : error);
  } finally {
    clearTimeout(timer);
    given?.removeEventListener("abort", cancel);
  }
}
