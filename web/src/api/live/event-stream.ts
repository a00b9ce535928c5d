import { ApiError } from "../api-error.ts";
import { fetchResponse } from "../send.ts";

export interface StreamEvent {
  /** "message" by default. */
  readonly name: string;
  readonly data: string;
}

/** Splits the received text into events; `rest` is an incomplete event. Comments are heartbeats. */
export function parseEvents(received: string): { events: readonly StreamEvent[]; rest: string } {
  const blocks = received.replace(/\r\n?/g, "\n").split("\n\n");
  const rest = blocks.pop() ?? "";
  return { events: blocks.map(eventOf), rest };
}

interface Handlers {
  readonly onOpen: () => void;
  readonly onEvents: (events: readonly StreamEvent[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads server-sent events until the stream ends or `signal` aborts. By fetch, since EventSource cannot send the bearer
 * (G92).
 * @throws ApiError when the stream is refused or the server does not answer
 */
export async function readEvents(path: string, token: string, { onOpen, onEvents, signal }: Handlers): Promise<void> {
  const response = await fetchResponse(path, {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body)
    throw new ApiError(response.status === 401 ? "unauthenticated" : "unavailable", "No events", response.status);
  onOpen();
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parsed = parseEvents(rest + value);
    rest = parsed.rest;
    onEvents(parsed.events);
  }
}

function eventOf(block: string): StreamEvent {
  const lines = block.split("\n");
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart());
  return { name: field("event")[0] ?? "message", data: field("data").join("\n") };
}
