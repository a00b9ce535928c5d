import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { KubeConfig } from "@kubernetes/client-node";
import { DriverError } from "../../driver.ts";
import { limitOperation } from "../../limit-operation.ts";
import { explainClusterError, refusalOf } from "./cluster-errors.ts";

export interface ClusterAddress {
  /** A kubeconfig file; undefined: the service account of the pod that this process runs in. */
  readonly kubeconfig?: string | undefined;
  /** Holds every object of ours. */
  readonly namespace: string;
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface Call {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Relative to the server, such as `/api/v1/nodes`. */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON; a PATCH is a server-side apply. */
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** One namespace of a Kubernetes cluster. */
export interface Cluster {
  readonly namespace: string;
  /** That of the pod that this process runs in; undefined outside the cluster. */
  readonly serverNamespace: string | undefined;
  /** The address of its API server. Throws `unavailable` without a kubeconfig. */
  readonly server: string;
  /** Of its certificate authority, which is the same by every address of the cluster; its address where there is none. */
  fingerprint(): Promise<string>;
  /** The time by the API server's clock in milliseconds, to the second; by this machine's before the first reply. */
  now(): number;
  /** The parsed reply of one call. Throws `ClusterRefusal`. */
  call<T>(call: Call): Promise<T>;
  /** The bytes of a reply as they arrive, for logs and watches. Throws `ClusterRefusal`. */
  stream(call: Call): AsyncGenerator<Buffer, void>;
  /** Address and options of a WebSocket to the API server. */
  socketTo(path: string, query: Query): Promise<{ readonly url: string; readonly options: RequestOptions }>;
  /** As `limitOperation`. */
  withTimeout<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T>;
  /** As `explainClusterError`. */
  explain(error: unknown): unknown;
}

/** Connects nothing yet. Operations throw `unavailable` as long as the kubeconfig cannot be read. */
export function openCluster({ kubeconfig, namespace }: ClusterAddress): Cluster {
  let known: KubeConfig | undefined;
  const read = () => {
    known ??= readKubeconfig(kubeconfig);
    return known;
  };
  const serverOf = () => read().getCurrentCluster()?.server.replace(/\/$/, "") ?? "";
  const explain = (error: unknown) => explainClusterError(error, serverOf());
  const optionsOf = async () => {
    const options: RequestOptions = {};
    // Reads a rotated token again, and runs a kubeconfig's login program.
    await read().applyToHTTPSOptions(options as Parameters<KubeConfig["applyToHTTPSOptions"]>[0]);
    return options;
  };
  let aheadMs = 0;
  const open = async (call: Call) => {
    const reply = await send(serverOf(), call, await optionsOf());
    const at = Date.parse(reply.headers.date ?? "");
    if (!Number.isNaN(at)) aheadMs = at - Date.now();
    return reply;
  };
  return {
    namespace,
    get serverNamespace() {
      return kubeconfig === undefined ? read().getContextObject(read().getCurrentContext())?.namespace : undefined;
    },
    get server() {
      return serverOf();
    },
    explain,
    fingerprint: async () => await fingerprintOf(read()),
    now: () => Date.now() + aheadMs,
    async call<T>(call: Call) {
      return JSON.parse(await text(await open(call))) as T;
    },
    async *stream(call) {
      yield* await open(call);
    },
    async socketTo(path, query) {
      return { url: `${serverOf().replace(/^http/, "ws")}${path}${queryString(query)}`, options: await optionsOf() };
    },
    async withTimeout(work, given) {
      return await limitOperation(work, { called: `The Kubernetes API server at ${serverOf()}`, explain, given });
    },
  };
}

function readKubeconfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromCluster();
    else config.loadFromFile(file);
  } catch (error) {
    const place = file === undefined ? "The service account of this pod" : `The kubeconfig ${file}`;
    throw new DriverError("unavailable", `${place} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (!config.getCurrentCluster())
    throw new DriverError("unavailable", `The kubeconfig ${file} names no current context with a cluster`);
  return config;
}

async function fingerprintOf(config: KubeConfig): Promise<string> {
  const { caData, caFile, server = "" } = config.getCurrentCluster() ?? {};
  if (!caData && !caFile) return server;
  const bytes = caData ? Buffer.from(caData, "base64") : await readFile(caFile ?? "");
  return new X509Certificate(bytes).fingerprint256.replaceAll(":", "").slice(0, 16);
}

async function send(server: string, call: Call, options: RequestOptions): Promise<IncomingMessage> {
  const { method = "GET", path, query = {}, body, signal } = call;
  const type = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
  const content = body === undefined ? "" : JSON.stringify(body);
  const headers = {
    ...options.headers,
    accept: "application/json",
    // Node sends the body of a DELETE without its length, unless it is told.
    ...(body && { "content-type": type, "content-length": Buffer.byteLength(content) }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(`${server}${path}${queryString(query)}`, { ...options, method, headers, signal }, resolve);
  sent.on("error", reject);
  sent.end(content);
  const reply = await promise;
  const status = reply.statusCode ?? 0;
  if (status < 200 || status > 299) throw refusalOf(status, await text(reply));
  return reply;
}

function queryString(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => [name, String(each)] as [string, string]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}
