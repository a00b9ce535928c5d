import type { AnyEndpoint, Input, ReplyOf } from "@berth/contract";
import { learnTime } from "../server-clock.ts";
import { ApiError, apiErrorOf, isStatusOnly } from "./api-error.ts";
import { bounded, noAnswer } from "./bounded.ts";

export interface SendOptions {
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** With the cookies of this host; by default without. */
  readonly withCookies?: boolean | undefined;
  /** Of a sign-in (G427). */
  readonly browser?: string | undefined;
  /** Where the server itself waits before it answers. */
  readonly withinMs?: number | undefined;
}

/** One request without a retry; call.ts adds the session. */
export async function send<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: SendOptions = {},
): Promise<ReplyOf<E>> {
  const response = await request(endpoint, input, { ...options, signal: bounded(options.signal, options.withinMs) });
  const reply: unknown = await response.json().catch(() => undefined);
  if (reply === undefined && response.ok && !isStatusOnly(endpoint.path)) throw unreadable();
  const refusal = apiErrorOf(endpoint.path, response.status, reply);
  if (refusal) throw refusal;
  return reply as ReplyOf<E>;
}

/** Like `send`, for an endpoint with a `media`, which returns a file. */
export async function sendForFile<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: SendOptions = {},
): Promise<Blob> {
  const response = await request(endpoint, input, options);
  if (!response.ok) throw apiErrorOf(endpoint.path, response.status, await response.json().catch(() => undefined));
  return response.blob().catch(() => {
    throw unreadable();
  });
}

async function request<E extends AnyEndpoint>(
  endpoint: E,
  { params, body, query }: Input<E>,
  { token, signal, withCookies, browser }: SendOptions,
): Promise<Response> {
  const path = pathOf(endpoint, params);
  return fetchResponse(query ? `${path}?${new URLSearchParams(query)}` : path, {
    method: endpoint.method,
    // A GET that accepts text/html would get the app's page (G93).
    headers: {
      accept: endpoint.media ?? "application/json",
      ...(endpoint.method === "GET" ? {} : { "content-type": "application/json" }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(browser ? { "berth-browser": browser } : {}),
    },
    body: endpoint.method === "GET" ? null : JSON.stringify(body ?? {}),
    signal: signal ?? null,
    ...(withCookies && { credentials: "same-origin" }),
  });
}

function unreadable(): ApiError {
  return new ApiError("network", "The answer could not be read", 0);
}

/** `fetch`, with one error for all network failures. */
export async function fetchResponse(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { credentials: "omit", cache: "no-store", ...init });
    learnTime(response.headers.get("date"));
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw noAnswer();
  }
}

export function pathOf(endpoint: AnyEndpoint, params: unknown): string {
  const values = params as Record<string, string>;
  return endpoint.path.replace(/\{(\w+)\}/g, (_: string, name: string) => encodeURIComponent(values[name] ?? ""));
}
