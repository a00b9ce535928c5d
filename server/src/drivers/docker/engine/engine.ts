import Docker from "dockerode";
import { DriverError } from "../../driver.ts";
import type { SshTunnel } from "./ssh-tunnel.ts";
import { type Certificates, explainTlsError, tlsAgent } from "./tls-certificates.ts";

/** Where an engine is. Plain TCP is not offered: whoever reaches it is root there. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly url: string; readonly host: string; readonly port: number; readonly certificates: Certificates }
  | { readonly url: string; readonly tunnel: SshTunnel }
  /** It cannot even be asked, such as when a certificate is missing. */
  | { readonly url: string; readonly trouble: string };

export interface Engine {
  readonly docker: Docker;
  /** As a person knows it. */
  readonly displayName: string;
  /** One verb: whatever it asks of the engine under this signal, it ends within 9 s or throws `unavailable`; `given` ends it before. */
  withTimeout<T>(work: (abortSignal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T>;
  /** The same error in words for people, as a DriverError where it is the engine's. */
  explain(error: unknown): unknown;
}

const limitMs = 9_000;

/** Connects nothing yet: an engine that is away is told by the verbs. */
export function openEngine(address: EngineAddress): Engine {
  const displayName = placeOf(address);
  const docker = new Docker(optionsOf(address));
  const explain = (error: unknown) => explained(error, address, displayName);
  return {
    docker,
    displayName,
    explain,
    async withTimeout(work, given) {
      given?.throwIfAborted();
      const ending = new AbortController();
      const late = Promise.withResolvers<never>();
      // Raced, because a connection that is cut within an answer tells nobody.
      const end = (error: unknown) => {
        late.reject(error);
        ending.abort(error);
      };
      const words = `The Docker Engine at ${displayName} did not answer within ${limitMs / 1000} s`;
      const timer = setTimeout(() => end(new DriverError("unavailable", words)), limitMs);
      const cut = () => end(given?.reason);
      given?.addEventListener("abort", cut);
      try {
        return await Promise.race([reach(address, ending.signal).then(() => work(ending.signal)), late.promise]);
      } catch (error) {
        throw explain(ending.signal.aborted ? ending.signal.reason : error);
      } finally {
        clearTimeout(timer);
        given?.removeEventListener("abort", cut);
      }
    },
  };
}

function placeOf(address: EngineAddress): string {
  return "socketPath" in address ? address.socketPath : address.url;
}

function optionsOf(address: EngineAddress): Docker.DockerOptions {
  // dockerode mixes in DOCKER_HOST and its companions from the environment where a value is not given, even as undefined.
  const unused = {
    host: undefined,
    port: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeout: undefined,
  };
  const local = { ...unused, protocol: "http", pathPrefix: "/" };
  if ("socketPath" in address) return { ...local, socketPath: address.socketPath } as Docker.DockerOptions;
  if ("tunnel" in address) return { ...local, socketPath: address.tunnel.socketPath } as Docker.DockerOptions;
  if ("trouble" in address) return { ...local, socketPath: "/dev/null" } as Docker.DockerOptions;
  const { host, port, certificates, url } = address;
  const agent = tlsAgent(certificates, url);
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    ...unused,
    socketPath: undefined,
    protocol: "https",
    pathPrefix: "/",
    host: `https://${name}`,
    port,
    agent,
  } as Docker.DockerOptions;
}

/** An open way to the engine, as far as there is one to be opened. */
async function reach(address: EngineAddress, signal: AbortSignal): Promise<void> {
  if ("trouble" in address) throw new DriverError("unavailable", address.trouble);
  if ("tunnel" in address) await address.tunnel.connect(signal);
}

/** The engine's refusal of one call, with its HTTP status and its own words. */
export function engineErrorOf(error: unknown): { readonly status: number; readonly words: string } | undefined {
  if (!(error instanceof Error && "statusCode" in error && typeof error.statusCode === "number")) return undefined;
  const { json } = error as { json?: { message?: unknown } };
  return { status: error.statusCode, words: String(json?.message ?? error.message).trim() };
}

/** Status 404 (it is gone) and 304 (it is so already) are what a repeated verb wants: then undefined. */
export async function orUndefined<T>(call: Promise<T>, ...statuses: readonly number[]): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if ([304, 404, ...statuses].includes(engineErrorOf(error)?.status ?? 0)) return undefined;
    throw error;
  }
}

const noGpu =
  /could not select device driver|unresolvable CDI device|nvidia-container-cli|no known GPU|CDI device injection/i;
const noImage = /no such image/i;

function explained(error: unknown, address: EngineAddress, place: string): unknown {
  if (!(error instanceof Error) || error instanceof DriverError) return error;
  const said = (code: DriverError["code"], words: string) => new DriverError(code, words, { cause: error });
  const refusal = engineErrorOf(error);
  if (refusal) {
    const { status, words } = refusal;
    if (noImage.test(words)) return said("no_image", `The Docker Engine has no such image: ${words}`);
    if (noGpu.test(words)) return said("no_gpu", `The Docker Engine cannot give these GPUs: ${words}`);
    return said(status >= 500 ? "unavailable" : "refused", `The Docker Engine refused: ${words}`);
  }
  // An abort has a number here, and is its caller's own.
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? said("unavailable", wordsOf(code, error, address, place)) : error;
}

function wordsOf(code: string, error: Error, address: EngineAddress, place: string): string {
  const tls = explainTlsError(code);
  if (tls) return `The Docker Engine at ${place} ${tls}`;
  const isAway = code === "ENOENT" || code === "ECONNREFUSED";
  if (isAway && "socketPath" in address)
    return `No Docker Engine answers at ${place}: install or start it, or set DOCKER_HOST`;
  if (isAway) return `No Docker Engine answers at ${place}`;
  if (code === "EACCES" || code === "EPERM")
    return `No permission to use the Docker Engine at ${place}: add the user to the group docker, then sign in anew`;
  if ("tunnel" in address && code === "ECONNRESET")
    return `No Docker Engine answers at ${place}: it must run there, its user be in the group docker, and sshd have AllowStreamLocalForwarding`;
  return `The connection to the Docker Engine at ${place} broke: ${error.message}`;
}
