import type { AnyEndpoint, ErrorCode, Input, MoneyState, ReplyOf } from "@berth/contract";
import { learnTime } from "./server-clock.ts";

/** A refusal of the server, or `network` when there was no answer at all (G45). Switch on `code`, show `message` (R4). */
export class ApiError extends Error {
  readonly code: ErrorCode | "network";
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Where the buyer's money is, when the call was about money (G14). */
  readonly money: MoneyState | undefined;

  constructor(code: ErrorCode | "network", message: string, status: number, money?: MoneyState) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.money = money;
  }
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One request, no retry: `call` of client.ts adds the session to it. */
export async function send<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: SendOptions = {},
): Promise<ReplyOf<E>> {
  const response = await ask(endpoint, input, options);
  const answer: unknown = await response.json().catch(() => undefined);
  if (answer === undefined) throw unreadable();
  return answer as ReplyOf<E>;
}

/** The same for an endpoint with a `media`: its answer is a file. */
export async function sendForFile<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: SendOptions = {},
): Promise<Blob> {
  const response = await ask(endpoint, input, options);
  return response.blob().catch(() => {
    throw unreadable();
  });
}

async function ask<E extends AnyEndpoint>(
  endpoint: E,
  { params, body, query }: Input<E>,
  { token, signal }: SendOptions,
): Promise<Response> {
  const path = pathOf(endpoint, params);
  const response = await answered(query ? `${path}?${new URLSearchParams(query)}` : path, {
    method: endpoint.method,
    // A GET that accepted text/html would get the app's own page (G93).
    headers: {
      accept: endpoint.media ?? "application/json",
      ...(endpoint.method === "GET" ? {} : { "content-type": "application/json" }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: endpoint.method === "GET" ? null : JSON.stringify(body ?? {}),
    signal: signal ?? null,
  });
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => undefined));
  return response;
}

function unreadable(): ApiError {
  return new ApiError("network", "The answer could not be read", 0);
}

/** `fetch`, with every way of not getting an answer as one error. */
export async function answered(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, { credentials: "omit", cache: "no-store", ...init });
    learnTime(response.headers.get("date"));
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError("network", "Network error. Please check your connection and try again.", 0);
  }
}

export function pathOf(endpoint: AnyEndpoint, params: unknown): string {
  const values = params as Record<string, string>;
  return endpoint.path.replace(/\{(\w+)\}/g, (_: string, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** Answers that are not ours (a proxy's page, an empty body) still become a code that screens know. */
function refusal(status: number, answer: unknown): ApiError {
  const body = (typeof answer === "object" && answer !== null ? answer : {}) as Partial<Record<string, unknown>>;
  const code = typeof body["code"] === "string" ? (body["code"] as ErrorCode) : codeOf(status);
  const message = typeof body["message"] === "string" ? body["message"] : `HTTP ${status}`;
  return new ApiError(code, message, status, body["money"] as MoneyState | undefined);
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return "unauthenticated";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "unavailable";
  return "invalid_request";
}
