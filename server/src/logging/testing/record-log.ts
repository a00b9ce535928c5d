import { pino } from "pino";
import { type Logger, lineOptions, splitArguments, warnLevel } from "../create-logger.ts";

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly event?: string };

/** A log for tests: records every line, and the errors or messages of warnings and worse. Repeats are not counted. */
export function recordLog(onError?: (error: unknown) => void): { log: Logger; lines: LogLine[]; errors: unknown[] } {
  const lines: LogLine[] = [];
  const errors: unknown[] = [];
  const log = pino(
    {
      ...lineOptions,
      level: "trace",
      base: null,
      hooks: {
        logMethod(args, method, level) {
          const { fields, message } = splitArguments(args);
          const error = fields["err"] ?? message;
          if (level >= warnLevel) errors.push(error);
          if (level >= warnLevel) onError?.(error);
          method.apply(this, args);
        },
      },
    },
    { write: (line) => void lines.push(JSON.parse(line)) },
  );
  return { log, lines, errors };
}

/** A log for tests that throws on a warning or worse. */
export function strictLog(): Logger {
  return recordLog((error) => {
    throw error;
  }).log;
}
