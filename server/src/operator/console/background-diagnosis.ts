import { type Logger, logError } from "../../logging/create-logger.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";

export interface LatestDiagnosis {
  /** Null before the first run ends. */
  readonly checkedAt: Date | null;
  readonly running: boolean;
  readonly diagnosis: Diagnosis;
}

export interface BackgroundDiagnosis {
  /** Returns the newest result at once, and begins a new run when that is five minutes old. */
  latest(): LatestDiagnosis;
  /** Begins a run now unless one is under way. */
  again(): void;
  /** Resolves when no run is under way. */
  settled(): Promise<void>;
}

const freshMs = 5 * 60_000;

/** Runs the doctor only while somebody looks, because its checks ask every engine and disk, for 40 s at worst. */
export function backgroundDiagnosis(run: () => Promise<Diagnosis>, log: Logger): BackgroundDiagnosis {
  let diagnosis: Diagnosis = { notes: [], findings: [] };
  let checkedAt: Date | null = null;
  let running: Promise<void> | undefined;

  function again(): void {
    running ??= run()
      .then((result) => {
        diagnosis = result;
        checkedAt = new Date();
      })
      .catch(logError(log, "doctor.failed"))
      .finally(() => {
        running = undefined;
      });
  }

  return {
    again,
    latest() {
      if (!checkedAt || Date.now() - checkedAt.getTime() > freshMs) again();
      return { checkedAt, running: running !== undefined, diagnosis };
    },
    settled: async () => await running,
  };
}
