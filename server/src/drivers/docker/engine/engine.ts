import { createRequire } from "node:module";
import type Docker from "dockerode";
import { DriverError } from "../../driver.ts";
import { explainEngineError } from "./engine-errors.ts";
import type { SshTunnel } from "./ssh-tunnel.ts";
import { type Certificates, tlsAgent } from "./tls-certificates.ts";

/** Where an engine is. There is no plain TCP: anyone who reaches it is root on that machine. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly url: string; readonly host: string; readonly port: number; readonly certificates: Certificates }
  | { readonly url: string; readonly tunnel: SshTunnel }
  /** It cannot be used, for example because a certificate is missing. */
  | { readonly url: string; readonly problem: string };

export interface Engine {
  readonly docker: Docker;
  /** The name of the engine in messages. */
  readonly displayName: string;
  /** Runs one operation: `work` gets a signal for its calls and ends within 9 s, or this throws `unavailable`. `given` aborts it earlier. */
  withTimeout<T>(work: (abortSignal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T>;
  /** As `explainEngineError`. */
  explain(error: unknown): unknown;
}

const timeoutMs = 9_000;

const require = createRequire(import.meta.url);

/** Connects nothing yet: the operations find out whether the engine answers. */
export function openEngine(address: EngineAddress): Engine {
  const displayName = "socketPath" in address ? address.socketPath : address.url;
  // Loaded with the first engine: two hundred modules, gRPC among them.
  const Client: typeof Docker = require("dockerode");
  const docker = new Client(optionsOf(address));
  const via = "socketPath" in address ? "socket" : "tunnel" in address ? "ssh" : "tls";
  const explain = (error: unknown) => explainEngineError(error, { via, displayName });
  return {
    docker,
    displayName,
    explain,
    async withTimeout(work, given) {
      given?.throwIfAborted();
      const ending = new AbortController();
      const { promise: ended, reject } = Promise.withResolvers<never>();
      // Raced, because a connection that is cut within a response is never reported.
      const end = (error: unknown) => {
        reject(error);
        ending.abort(error);
      };
      const message = `The Docker Engine at ${displayName} did not answer within ${timeoutMs / 1000} s`;
      const timer = setTimeout(() => end(new DriverError("unavailable", message)), timeoutMs);
      const cancel = () => end(given?.reason);
      given?.addEventListener("abort", cancel);
      try {
        return await Promise.race([connect(address, ending.signal).then(() => work(ending.signal)), ended]);
      } catch (error) {
        throw explain(ending.signal.aborted ? ending.signal.reason : error);
      } finally {
        clearTimeout(timer);
        given?.removeEventListener("abort", cancel);
      }
    },
  };
}

function optionsOf(address: EngineAddress): Docker.DockerOptions {
  // dockerode takes DOCKER_HOST and its companions from the environment for each value that is not named here.
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
  if ("problem" in address) return { ...local, socketPath: "/dev/null" } as Docker.DockerOptions;
  const { host, port, certificates, url } = address;
  const name = host.includes(":") ? `[${host}]` : host;
  const remote = { protocol: "https", pathPrefix: "/", host: `https://${name}`, port };
  const options = { ...unused, socketPath: undefined, ...remote, agent: tlsAgent(certificates, url) };
  return options as Docker.DockerOptions;
}

async function connect(address: EngineAddress, signal: AbortSignal): Promise<void> {
  if ("problem" in address) throw new DriverError("unavailable", address.problem);
  if ("tunnel" in address) await address.tunnel.connect(signal);
}
