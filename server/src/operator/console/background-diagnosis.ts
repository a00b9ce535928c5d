import { type Logger, logError } from "../../logging/create-logger.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";

export interface LatestDiagnosis {
  /** Null before the first run ends. */
  readonly checkedAt: Date | null;
  readonly running: boolean;
  readonly diagnosis: Diagnosis;
}

export interface BackgroundDiagnosis {
  /** Returns the newest result at once, and begins a new run when that is five minutes old, or with a finding half a minute. */
  latest(): LatestDiagnosis;
  /** Begins a run now unless one is under way. */
  again(): void;
  /** Resolves when no run is under way. */
  settled(): Promise<void>;
}

const calmMs = 5 * 60_000;
/** While something is found, so that it is gone from the screen soon after its cause. */
const alarmedMs = 30_000;

/** Runs the doctor only while somebody looks, because its checks ask every engine and disk, for 40 s at worst. */
export function backgroundDiagnosis(run: () => Promise<Diagnosis>, log: Logger): BackgroundDiagnosis {
  let diagnosis: Diagnosis = { notes: [], findings: [] };
  let checkedAt: Date | null = null;
  /** By a clock that does not jump: one that is wrong may be a finding. */
  let endedMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;

  function isOld(): boolean {
    const isCalm = diagnosis.findings.every(({ rows }) => rows.length === 0);
    return performance.now() - endedMs > (isCalm ? calmMs : alarmedMs);
  }

  function again(): void {
    running ??= run()
      .then((result) => {
        diagnosis = result;
        checkedAt = new Date();
        endedMs = performance.now();
      })
      .catch(logError(log, "doctor.failed"))
      .finally(() => {
        running = undefined;
      });
  }

  return {
    again,
    latest() {
      if (isOld()) again();
      return { checkedAt, running: running !== undefined, diagnosis };
    },
    settled: async () => await running,
  };
}
