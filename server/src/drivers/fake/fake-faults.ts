import { DriverError, type DriverErrorCode } from "../driver.ts";

type Operation =
  | "capabilities"
  | "prepare"
  | "observe"
  | "list"
  | "start"
  | "pause"
  | "stop"
  | "remove"
  | "deleteHome"
  | "homeMb"
  | "gpuFault"
  | "gpuLeftovers"
  | "stats";

export interface FakeFaults {
  /** Number of calls of each operation on this driver object. */
  readonly calls: ReadonlyMap<Operation, number>;
  /** The next `times` calls of this operation throw before they do anything. */
  failNext(operation: Operation, code?: DriverErrorCode, times?: number): void;
  /** Calls of this operation wait for the returned function, for the signal, or 10 s long (then `unavailable`). */
  hang(operation: Operation): () => void;
  /** Every operation calls this first. */
  pass(operation: Operation, signal?: AbortSignal): Promise<void>;
}

export function openFakeFaults(): FakeFaults {
  const calls = new Map<Operation, number>();
  const failures: { readonly operation: Operation; readonly code: DriverErrorCode }[] = [];
  const hanging = new Map<Operation, Promise<void>>();
  return {
    calls,
    failNext(operation, code = "unavailable", times = 1) {
      for (let time = 0; time < times; time++) failures.push({ operation, code });
    },
    hang(operation) {
      const { promise, resolve } = Promise.withResolvers<void>();
      hanging.set(operation, promise);
      return () => {
        hanging.delete(operation);
        resolve();
      };
    },
    async pass(operation, signal) {
      calls.set(operation, (calls.get(operation) ?? 0) + 1);
      signal?.throwIfAborted();
      const held = hanging.get(operation);
      if (held) await within10s(held, operation, signal);
      const at = failures.findIndex((failure) => failure.operation === operation);
      const [failure] = at < 0 ? [] : failures.splice(at, 1);
      if (failure) throw new DriverError(failure.code, `a failure of ${operation} was asked for`);
    },
  };
}

async function within10s(held: Promise<void>, operation: Operation, signal: AbortSignal | undefined): Promise<void> {
  const end = AbortSignal.any([AbortSignal.timeout(10_000), ...(signal ? [signal] : [])]);
  const ended = new Promise<never>((_, reject) => {
    const late = () => new DriverError("unavailable", `${operation} did not end within 10 s`);
    end.addEventListener("abort", () => reject(signal?.aborted ? signal.reason : late()), { once: true });
  });
  await Promise.race([held, ended]);
}
