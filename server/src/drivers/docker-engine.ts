import Docker from "dockerode";
import { DriverError } from "./driver.ts";

/** Where an engine is. Plain TCP is not offered: whoever reaches it is root there (runtime.md 3). */
export interface EngineAddress {
  readonly socketPath: string;
}

export interface Engine {
  readonly docker: Docker;
  /** One verb: whatever it asks of the engine under this signal, it ends within 9 s or throws `unavailable`. */
  verb<T>(work: (abortSignal: AbortSignal) => Promise<T>): Promise<T>;
  /** The same error in words for people, as a DriverError where it is the engine's. */
  explain(error: unknown): unknown;
}

const limitMs = 9_000;

/** Connects nothing yet: an engine that is away is told by the verbs. */
export function openEngine({ socketPath }: EngineAddress): Engine {
  // dockerode mixes in DOCKER_HOST and its companions from the environment where a value is not given, even as undefined.
  const unused = { host: undefined, port: undefined, protocol: "http" as const, ca: undefined, cert: undefined };
  const docker = new Docker({ ...unused, key: undefined, timeout: undefined, socketPath } as Docker.DockerOptions);
  const explain = (error: unknown) => explained(error, socketPath);
  return {
    docker,
    explain,
    async verb(work) {
      const ending = new AbortController();
      const late = Promise.withResolvers<never>();
      // Raced, because a connection that is cut within an answer tells nobody.
      const timer = setTimeout(() => {
        const words = `The Docker Engine at ${socketPath} did not answer within ${limitMs / 1000} s`;
        const error = new DriverError("unavailable", words);
        late.reject(error);
        ending.abort(error);
      }, limitMs);
      try {
        return await Promise.race([work(ending.signal), late.promise]);
      } catch (error) {
        throw explain(ending.signal.aborted ? ending.signal.reason : error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The engine's refusal of one call, with its HTTP status and its own words. */
export function refusalOf(error: unknown): { readonly status: number; readonly words: string } | undefined {
  if (!(error instanceof Error && "statusCode" in error && typeof error.statusCode === "number")) return undefined;
  const { json } = error as { json?: { message?: unknown } };
  return { status: error.statusCode, words: String(json?.message ?? error.message).trim() };
}

/** Status 404 (it is gone) and 304 (it is so already) are what a repeated verb wants: then undefined. */
export async function orDone<T>(call: Promise<T>, ...statuses: readonly number[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ([304, 404, ...statuses].includes(refusalOf(error)?.status ?? 0)) return undefined;
    throw error;
  }
}

const noGpu =
  /could not select device driver|unresolvable CDI device|nvidia-container-cli|no known GPU|CDI device injection/i;
const noImage = /no such image/i;

function explained(error: unknown, place: string): unknown {
  if (!(error instanceof Error) || error instanceof DriverError) return error;
  const said = (code: DriverError["code"], words: string) => new DriverError(code, words, { cause: error });
  const refusal = refusalOf(error);
  if (refusal) {
    const { status, words } = refusal;
    if (noImage.test(words)) return said("no_image", `The Docker Engine has no such image: ${words}`);
    if (noGpu.test(words)) return said("no_gpu", `The Docker Engine cannot give these GPUs: ${words}`);
    return said(status >= 500 ? "unavailable" : "refused", `The Docker Engine refused: ${words}`);
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ECONNREFUSED")
    return said("unavailable", `No Docker Engine answers at ${place}: install or start it, or set DOCKER_HOST`);
  if (code === "EACCES" || code === "EPERM")
    return said(
      "unavailable",
      `No permission to use the Docker Engine at ${place}: add the user to the group docker, then sign in anew`,
    );
  // An abort has a number here, and is its caller's own.
  return typeof code === "string"
    ? said("unavailable", `The connection to the Docker Engine at ${place} broke: ${error.message}`)
    : error;
}
