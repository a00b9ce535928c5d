import { withTimeout } from "../../async/with-timeout.ts";
import type { FindingKind } from "./finding-kinds.ts";

/** One check of `doctor` (docs/internals/reliability.md). */
export interface Check {
  /** For programs; the words of the others may change. */
  readonly kind: FindingKind;
  readonly what: string;
  /** The command or act that repairs a finding. */
  readonly remedy: string;
  /** Returns a sentence for each fault; empty when all is well. Changes nothing. */
  readonly run: () => Promise<readonly string[]>;
}

export interface Finding extends Pick<Check, "kind" | "what" | "remedy"> {
  readonly rows: readonly string[];
}

/** Runs the checks in parallel, each with its own timeout: a check that fails is a finding and does not affect others. */
export async function runChecks(checks: readonly Check[], timeoutMs = 40_000): Promise<readonly Finding[]> {
  return await Promise.all(
    checks.map(async ({ run, ...check }) => {
      const onTimeout = () => {
        throw new Error(`no answer within ${timeoutMs / 1000} s`);
      };
      try {
        return { ...check, rows: await withTimeout(run(), timeoutMs, onTimeout) };
      } catch (error) {
        return { ...check, rows: [`The check failed: ${messageOf(error)}`] };
      }
    }),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}
