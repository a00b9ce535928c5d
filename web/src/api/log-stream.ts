import { ApiError } from "./api-error.ts";
import { answered } from "./send.ts";

interface Heard {
  readonly lines: readonly string[];
  /** The run is over: nothing more will follow. */
  readonly over: boolean;
  /** What waits for more. */
  readonly rest: string;
}

/** Splits what has arrived of a log into whole events; comments are heartbeats, unreadable ones are left out. */
export function parseLog(received: string): Heard {
  const blocks = received.split("\n\n");
  const rest = blocks.pop() ?? "";
  const over = blocks.some((block) => block.startsWith("event: over"));
  const lines = blocks.filter((block) => block.startsWith("data: ")).flatMap(lineOf);
  return { lines, over, rest };
}

/**
 * Reads the log of an environment until it ends or `signal` aborts; answers whether the run is over.
 * @throws ApiError when the log is refused or there is no answer
 */
export async function readLog(
  token: string,
  environmentId: string,
  { heard, signal }: { heard: (lines: readonly string[]) => void; signal: AbortSignal },
): Promise<boolean> {
  const response = await answered(`/environments/${encodeURIComponent(environmentId)}/logs`, {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body)
    throw new ApiError(response.status === 401 ? "unauthenticated" : "unavailable", "No log", response.status);
  heard([]);
  let rest = "";
  let over = false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return over;
    const parsed = parseLog(rest + value);
    rest = parsed.rest;
    over ||= parsed.over;
    if (parsed.lines.length > 0) heard(parsed.lines);
  }
}

function lineOf(block: string): string[] {
  try {
    const line: unknown = JSON.parse(block.slice("data: ".length));
    return typeof line === "string" ? [plain(line)] : [];
  } catch {
    return [];
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal would take for colours
const colours = /\u001b\[[\d;]*[A-Za-z]/g;

/** As a terminal shows it in the end: without colours, and of a line that was written over only what stands there. */
function plain(line: string): string {
  const shown = line.replace(colours, "").replace(/\r+$/, "");
  return shown.slice(shown.lastIndexOf("\r") + 1);
}
