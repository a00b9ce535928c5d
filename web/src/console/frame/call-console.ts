import type { AnyEndpoint, Input, ReplyOf } from "@berth/contract";
import { ApiError, apiErrorOf } from "../../api/api-error.ts";
import { bounded } from "../../api/bounded.ts";
import { fetchResponse, pathOf } from "../../api/send.ts";

/** Calls one endpoint of the console with its session's cookie. Throws ApiError. */
export async function callConsole<E extends AnyEndpoint>(
  endpoint: E,
  { params, body }: Pick<Input<E>, "params" | "body">,
  signal?: AbortSignal,
): Promise<ReplyOf<E>> {
  const hasBody = endpoint.method !== "GET";
  const response = await fetchResponse(pathOf(endpoint, params), {
    method: endpoint.method,
    credentials: "same-origin",
    headers: { accept: "application/json", ...(hasBody && { "content-type": "application/json" }) },
    body: hasBody ? JSON.stringify(body) : null,
    signal: bounded(signal),
  });
  const reply: unknown = await response.json().catch(() => undefined);
  const refusal = apiErrorOf(endpoint.path, response.status, reply);
  if (refusal) throw refusal;
  if (reply === undefined) throw new ApiError("network", "The answer could not be read", 0);
  return reply as ReplyOf<E>;
}
