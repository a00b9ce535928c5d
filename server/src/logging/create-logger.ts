import { type DestinationStream, type LevelWithSilent, type LogFn, type Logger, pino, stdTimeFunctions } from "pino";
import { countRepeats } from "./count-repeats.ts";
import { readableLine } from "./readable-line.ts";
import { requestIds } from "./request-ids.ts";
import { serializeError } from "./serialize-error.ts";

export type { Logger } from "pino";

/** Numbers of pino's levels. */
export const warnLevel = 40;
const errorLevel = 50;

/** The format of a line, shared with tests. */
export const lineOptions = {
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
  serializers: { err: serializeError },
  mixin(_fields: object, _level: number, logger: Logger) {
    const requestId = requestIds.getStore();
    return requestId === undefined || "requestId" in logger.bindings() ? {} : { requestId };
  },
};

interface Options {
  readonly level: LevelWithSilent;
  /** The roles of this process: `role` in every line. */
  readonly roles: Iterable<string>;
  /** The event of an outage that many components report at once: their errors are counted as one failure. */
  readonly outageOf: (error: unknown) => string | undefined;
  readonly destination?: DestinationStream;
  /** Called for every line from `level` on, also for repeats that are not written. */
  readonly onLine?: (level: string, event: string) => void;
}

/** Logs JSON lines to stderr, readable lines to a terminal (docs/operate/logs.md). Repeated failures are counted. */
export function createLogger({ level, roles, outageOf, destination = stderr(), onLine }: Options): Logger {
  const repeats = countRepeats();
  return pino(
    {
      ...lineOptions,
      level,
      base: { pid: process.pid, role: [...roles].join(",") },
      hooks: {
        logMethod(args, method, value) {
          const { fields, message } = splitArguments(args);
          onLine?.(pino.levels.labels[value] ?? "", String(fields["event"] ?? "none"));
          if (value < warnLevel) return method.apply(this, args);
          const outage = outageOf(fields["err"]);
          const line = outage ? { ...fields, event: outage, during: fields["event"] } : fields;
          const key = outage ?? keyOf(value, this.bindings(), fields, message);
          const write = (repeated?: number) => writeLine(this, method, { ...line, repeated }, message);
          if (repeats.isFirst(key, write)) write();
        },
      },
    },
    destination,
  );
}

/** For tests and tools whose log is not needed. */
export const silentLogger: Logger = pino({ level: "silent" });

/** For the operator's commands: warnings and errors, readable, on stderr. */
export const commandLogger: Logger = pino(
  { ...lineOptions, level: "warn" },
  { write: (line) => void process.stderr.write(readableLine(line)) },
);

/** Returns a `catch` handler for background work that logs the error under an event. */
export function logError(log: Logger, event: string, ids: object = {}): (error: unknown) => void {
  return (err) => log.error({ event, ...ids, err });
}

interface Call {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string | undefined;
}

/** pino's first argument is fields, an error or a message. */
export function splitArguments([first, second]: Parameters<LogFn>): Call {
  if (typeof first === "string") return { fields: {}, message: first };
  const message = typeof second === "string" ? second : undefined;
  return { fields: first instanceof Error ? { err: first } : { ...(first as object) }, message };
}

function writeLine(log: Logger, method: LogFn, fields: object, message: string | undefined): void {
  if (message === undefined) method.call(log, fields);
  else method.call(log, fields, message);
}

/** The deduplication key. Errors of different requests differ, because a 500 shows its request id to the user. */
function keyOf(level: number, bindings: object, { err, ...fields }: Call["fields"], message?: string): string {
  const { requestId, ...rest } = bindings as { readonly requestId?: string };
  const request = level >= errorLevel ? requestId : undefined;
  return JSON.stringify([level, request, rest, fields, String(err), message]);
}

function stderr(): DestinationStream {
  const destination = pino.destination({ fd: 2, sync: true });
  if (!process.stderr.isTTY) return destination;
  return { write: (line) => void destination.write(readableLine(line)) };
}
