import { readEvents, type StreamEvent } from "./event-stream.ts";

/**
 * Reads the log of an environment until it ends or `signal` aborts; returns whether the run has ended.
 * @throws ApiError when the log is refused or the server does not answer
 */
export async function readLog(
  token: string,
  environmentId: string,
  { onLines, signal }: { onLines: (lines: readonly string[]) => void; signal: AbortSignal },
): Promise<boolean> {
  let ended = false;
  await readEvents(`/environments/${encodeURIComponent(environmentId)}/logs`, token, {
    onOpen: () => onLines([]),
    onEvents: (events) => {
      ended ||= events.some(({ name }) => name === "over");
      const lines = linesOf(events);
      if (lines.length > 0) onLines(lines);
    },
    signal,
  });
  return ended;
}

/** The lines of a log as a terminal would show them; skips unreadable events. */
export function linesOf(events: readonly StreamEvent[]): string[] {
  return events.flatMap(({ name, data }) => {
    if (name !== "message") return [];
    try {
      const line: unknown = JSON.parse(data);
      return typeof line === "string" ? [plain(line)] : [];
    } catch {
      return [];
    }
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes of a terminal's colours
const colours = /\u001b\[[\d;]*[A-Za-z]/g;

/** Without color codes; an overwritten line has its last text. */
function plain(line: string): string {
  const texts = line.replace(colours, "").split("\r");
  return texts.findLast((text) => text !== "") ?? "";
}
