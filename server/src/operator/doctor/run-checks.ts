import { withTimeout } from "../../async/with-timeout.ts";

/** One check of `doctor` (docs/internals/reliability.md). */
export interface Check {
  readonly what: string;
  /** The command or act that repairs a finding. */
  readonly remedy: string;
  /** Returns a sentence for each fault; empty when all is well. Changes nothing. */
  readonly run: () => Promise<readonly string[]>;
}

export interface Finding extends Pick<Check, "what" | "remedy"> {
  readonly rows: readonly string[];
}

/** Runs the checks in parallel, each with its own timeout: a check that fails is a finding and does not affect others. */
export async function runChecks(checks: readonly Check[], timeoutMs = 40_000): Promise<readonly Finding[]> {
  return await Promise.all(
    checks.map(async ({ what, remedy, run }) => {
      const onTimeout = () => {
        throw new Error(`no answer within ${timeoutMs / 1000} s`);
      };
      try {
        return { what, remedy, rows: await withTimeout(run(), timeoutMs, onTimeout) };
      } catch (error) {
        return { what, remedy, rows: [`The check failed: ${messageOf(error)}`] };
      }
    }),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}
