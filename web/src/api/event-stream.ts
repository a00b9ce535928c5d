import type { Change } from "@berth/contract";
import { ApiError } from "./api-error.ts";
import { fetchResponse } from "./send.ts";

/** Splits the received text into whole events; `rest` is an event that is not complete. Comments and unknown lines are heartbeats. */
export function parseEvents(received: string): { changes: readonly Change[]; rest: string } {
  const blocks = received.replace(/\r\n?/g, "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { changes: blocks.flatMap(changeOf), rest };
}

/**
 * Reads `GET /events` until it ends or `signal` aborts. Fetch streaming, since EventSource cannot send the bearer (G92).
 * @throws ApiError when the stream is refused or the server does not answer
 */
export async function readEvents(
  token: string,
  { onOpen, onChange, signal }: { onOpen: () => void; onChange: (change: Change) => void; signal: AbortSignal },
): Promise<void> {
  const response = await fetchResponse("/events", {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body) {
    throw new ApiError(response.status === 401 ? "unauthenticated" : "unavailable", "No events", response.status);
  }
  onOpen();
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parsed = parseEvents(rest + value);
    rest = parsed.rest;
    for (const one of parsed.changes) onChange(one);
  }
}

const kinds: readonly unknown[] = [
  "environment",
  "order",
  "notification",
  "home",
  "queue",
] satisfies readonly Change["kind"][];

/** Checked by hand: a newer server may send kinds that this page does not know. */
function changeOf(block: string): Change[] {
  const data = block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
  try {
    const { kind, id } = JSON.parse(data || "{}") as Partial<Record<string, unknown>>;
    return kinds.includes(kind) ? [{ kind: kind as Change["kind"], id: typeof id === "string" ? id : null }] : [];
  } catch {
    return [];
  }
}
