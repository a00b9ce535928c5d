import { type Driver, DriverError, type DriverErrorCode } from "../driver.ts";

type Operation = Exclude<keyof Driver, "kind" | "archive" | "logs" | "watch">;

export interface FakeFaults {
  /** Number of calls of each operation on this driver object. */
  readonly calls: ReadonlyMap<Operation, number>;
  /** The next `times` calls of this operation throw before they do anything. */
  failNext(operation: Operation, code?: DriverErrorCode, times?: number): void;
  /** Calls of this operation wait for the returned function, for the signal, or 10 s long (then `unavailable`). */
  hang(operation: Operation): () => void;
}

/** The controls, and a driver with these faults in front of its operations. */
export function openFakeFaults(driver: Driver): FakeFaults & Driver {
  const calls = new Map<Operation, number>();
  const failures: { readonly operation: Operation; readonly code: DriverErrorCode }[] = [];
  const hanging = new Map<Operation, Promise<void>>();

  async function pass(operation: Operation, signal?: AbortSignal): Promise<void> {
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    signal?.throwIfAborted();
    const held = hanging.get(operation);
    if (held) await within10s(held, operation, signal);
    const at = failures.findIndex((failure) => failure.operation === operation);
    const [failure] = at < 0 ? [] : failures.splice(at, 1);
    if (failure) throw new DriverError(failure.code, `an injected failure of ${operation}`);
  }

  const operations = Object.entries(driver).filter(([name]) => !["kind", "archive", "logs", "watch"].includes(name));
  const faulty = operations.map(([name, operation]) => {
    const signalOf = (args: readonly unknown[]) => args.find((arg) => arg instanceof AbortSignal);
    const call = (...args: unknown[]) => pass(name as Operation, signalOf(args)).then(() => operation(...args));
    return [name, call] as const;
  });
  return {
    ...driver,
    ...(Object.fromEntries(faulty) as Pick<Driver, Operation>),
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
