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
  const request = {
    method: endpoint.method,
    credentials: "same-origin",
    headers: { accept: "application/json", ...(hasBody && { "content-type": "application/json" }) },
    body: hasBody ? JSON.stringify(body) : null,
  } as const;
  const { response, reply } = await bounded(
    async (end) => {
      const answer = await fetchResponse(pathOf(endpoint, params), { ...request, signal: end });
      return { response: answer, reply: (await answer.json().catch(() => undefined)) as unknown };
    },
    { signal },
  );
  const refusal = apiErrorOf(endpoint.path, response.status, reply);
  if (refusal) throw refusal;
  if (reply === undefined) throw new ApiError("network", "The answer could not be read", 0);
  return reply as ReplyOf<E>;
}
