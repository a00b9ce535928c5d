import { ApiError } from "./api-error.ts";
import { fetchResponse } from "./send.ts";

interface ParsedLog {
  readonly lines: readonly string[];
  /** The run has ended: no line will follow. */
  readonly ended: boolean;
  /** An event that is not complete. */
  readonly rest: string;
}

/** Splits the received text into whole events; comments are heartbeats, unreadable events are left out. */
export function parseLog(received: string): ParsedLog {
  const blocks = received.split("\n\n");
  const rest = blocks.pop() ?? "";
  const ended = blocks.some((block) => block.startsWith("event: over"));
  const lines = blocks.filter((block) => block.startsWith("data: ")).flatMap(lineOf);
  return { lines, ended, rest };
}

/**
 * Reads the log of an environment until it ends or `signal` aborts; returns whether the run has ended.
 * @throws ApiError when the log is refused or the server does not answer
 */
export async function readLog(
  token: string,
  environmentId: string,
  { onLines, signal }: { onLines: (lines: readonly string[]) => void; signal: AbortSignal },
): Promise<boolean> {
  const response = await fetchResponse(`/environments/${encodeURIComponent(environmentId)}/logs`, {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body)
    throw new ApiError(response.status === 401 ? "unauthenticated" : "unavailable", "No log", response.status);
  onLines([]);
  let rest = "";
  let ended = false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return ended;
    const parsed = parseLog(rest + value);
    rest = parsed.rest;
    ended ||= parsed.ended;
    if (parsed.lines.length > 0) onLines(parsed.lines);
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes of a terminal's colours
const colours = /\u001b\[[\d;]*[A-Za-z]/g;

/** As a terminal shows it in the end: without colours, and a line that was overwritten with its last text. */
function plain(line: string): string {
  const shown = line.replace(colours, "").replace(/\r+$/, "");
  return shown.slice(shown.lastIndexOf("\r") + 1);
}
