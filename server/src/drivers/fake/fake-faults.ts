import { DriverError, type DriverErrorCode } from "../driver.ts";

type Verb =
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

export interface Faults {
  /** How often each verb was called on this driver object. */
  readonly calls: ReadonlyMap<Verb, number>;
  /** The next `times` calls of this verb throw before they do anything. */
  failNext(verb: Verb, code?: DriverErrorCode, times?: number): void;
  /** Calls of this verb wait until the returned function is called, the verb's signal aborts, or 10 s are over (`unavailable`). */
  hang(verb: Verb): () => void;
  /** Every verb passes here before it does anything. */
  pass(verb: Verb, signal?: AbortSignal): Promise<void>;
}

export function openFaults(): Faults {
  const calls = new Map<Verb, number>();
  const failures: { readonly verb: Verb; readonly code: DriverErrorCode }[] = [];
  const hanging = new Map<Verb, Promise<void>>();
  return {
    calls,
    failNext(verb, code = "unavailable", times = 1) {
      for (let time = 0; time < times; time++) failures.push({ verb, code });
    },
    hang(verb) {
      const { promise, resolve } = Promise.withResolvers<void>();
      hanging.set(verb, promise);
      return () => {
        hanging.delete(verb);
        resolve();
      };
    },
    async pass(verb, signal) {
      calls.set(verb, (calls.get(verb) ?? 0) + 1);
      signal?.throwIfAborted();
      const held = hanging.get(verb);
      if (held) await atMost10s(held, verb, signal);
      const at = failures.findIndex((failure) => failure.verb === verb);
      const [failure] = at < 0 ? [] : failures.splice(at, 1);
      if (failure) throw new DriverError(failure.code, `a failure of ${verb} was asked for`);
    },
  };
}

async function atMost10s(held: Promise<void>, verb: Verb, signal: AbortSignal | undefined): Promise<void> {
  const over = AbortSignal.any([AbortSignal.timeout(10_000), ...(signal ? [signal] : [])]);
  const ended = new Promise<never>((_, reject) => {
    const late = () => new DriverError("unavailable", `${verb} did not end within 10 s`);
    over.addEventListener("abort", () => reject(signal?.aborted ? signal.reason : late()), { once: true });
  });
  await Promise.race([held, ended]);
}
