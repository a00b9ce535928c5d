import { DriverError } from "../../driver.ts";
import { explainTlsError } from "./tls-certificates.ts";

/** What a refusal is about, where the driver acts on it. */
type EngineErrorKind =
  | "no_image"
  | "no_gpu"
  | "no_network"
  | "no_mount_source"
  | "open_files_limit"
  | "cannot_freeze"
  | "not_paused";

/** The engine has no codes beside the HTTP status: these are its texts, from Docker Engine 20.10 on. The first match counts. */
const kinds: Readonly<Record<EngineErrorKind, RegExp>> = {
  no_image: /no such image/i,
  no_gpu:
    /could not select device driver|unresolvable CDI device|nvidia-container-cli|no known GPU|CDI device injection/i,
  no_network: /network .* not found/,
  no_mount_source: /bind source path does not exist/,
  open_files_limit: /error setting rlimit/,
  cannot_freeze: /unable to freeze/,
  not_paused: /not paused|cannot resume a running/,
};

/** Refusal of one API call. */
export interface EngineError {
  readonly status: number;
  readonly message: string;
  readonly kind: EngineErrorKind | undefined;
}

/** The refusal in what a call of dockerode threw; undefined for any other error. After `Engine.explain` it is the `cause`. */
export function engineErrorOf(error: unknown): EngineError | undefined {
  if (!(error instanceof Error && "statusCode" in error && typeof error.statusCode === "number")) return undefined;
  const { json } = error as { json?: { message?: unknown } };
  const message = String(json?.message ?? error.message).trim();
  return { status: error.statusCode, message, kind: kindOf(message) };
}

function kindOf(message: string): EngineErrorKind | undefined {
  return (Object.keys(kinds) as EngineErrorKind[]).find((kind) => kinds[kind].test(message));
}

/** For idempotent operations: undefined for status 404 (it is gone), 304 (it is done already) and these `statuses`. */
export async function orUndefined<T>(call: Promise<T>, ...statuses: readonly number[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ([304, 404, ...statuses].includes(engineErrorOf(error)?.status ?? 0)) return undefined;
    throw error;
  }
}

/** `no_image` where the registry has no such image or shows it to nobody; else it may be reached later. */
export function pullError(reference: string, message: string): DriverError {
  const isMissing = /manifest unknown|not found|does not exist|denied/i.test(message);
  return new DriverError(isMissing ? "no_image" : "unavailable", `${reference} cannot be fetched: ${message}`);
}

/** How the engine is reached, for the sentence about a connection that failed. */
export interface EngineConnection {
  readonly via: "socket" | "tls" | "ssh";
  readonly displayName: string;
}

/** The same error as a DriverError in a sentence for people, where it is the engine's; else as it is. */
export function explainEngineError(error: unknown, connection: EngineConnection): unknown {
  if (!(error instanceof Error) || error instanceof DriverError) return error;
  const explained = (code: DriverError["code"], message: string) => new DriverError(code, message, { cause: error });
  const refusal = engineErrorOf(error);
  if (refusal) {
    const { status, message, kind } = refusal;
    if (kind === "no_image") return explained(kind, `The Docker Engine has no such image: ${message}`);
    if (kind === "no_gpu") return explained(kind, `The Docker Engine cannot give these GPUs: ${message}`);
    return explained(status >= 500 ? "unavailable" : "refused", `The Docker Engine refused: ${message}`);
  }
  // The code of an abort is a number, and an abort belongs to the caller.
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? explained("unavailable", connectionMessage(code, error, connection)) : error;
}

function connectionMessage(code: string, error: Error, { via, displayName }: EngineConnection): string {
  const tls = explainTlsError(code);
  if (tls) return `The Docker Engine at ${displayName} ${tls}`;
  if (code === "ENOENT" || code === "ECONNREFUSED")
    return `No Docker Engine answers at ${displayName}${via === "socket" ? ": install or start it, or set DOCKER_HOST" : ""}`;
  if (code === "EACCES" || code === "EPERM")
    return `No permission to use the Docker Engine at ${displayName}: add the user to the group docker, then sign in again`;
  if (via === "ssh" && code === "ECONNRESET")
    return `No Docker Engine answers at ${displayName}: it must run there, its user must be in the group docker, and sshd must have AllowStreamLocalForwarding`;
  return `The connection to the Docker Engine at ${displayName} broke: ${error.message}`;
}
