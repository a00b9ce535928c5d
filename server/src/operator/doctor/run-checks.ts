/** One thing that `doctor` looks at (docs/internals/reliability.md). */
export interface Check {
  readonly what: string;
  /** The command or act that mends what it finds. */
  readonly remedy: string;
  /** A sentence for each thing that is wrong; nothing when all is well. Changes nothing. */
  readonly look: () => Promise<readonly string[]>;
}

export interface Finding extends Pick<Check, "what" | "remedy"> {
  readonly rows: readonly string[];
}

const usualLimitMs = 40_000;

/** All at once, each under its own try and limit: what one cannot find out is its own finding, and keeps no other. */
export async function runChecks(checks: readonly Check[], limitMs = usualLimitMs): Promise<readonly Finding[]> {
  return await Promise.all(
    checks.map(async ({ what, remedy, look }) => {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
      try {
        return { what, remedy, rows: await Promise.race([look(), late.promise]) };
      } catch (error) {
        return { what, remedy, rows: [`This could not be looked at: ${wordsOf(error)}`] };
      } finally {
        clearTimeout(timer);
      }
    }),
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : String(error);
}
