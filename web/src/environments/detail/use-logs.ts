import { useEffect, useState } from "react";
import { withToken } from "../../api/call.ts";
import { readLog } from "../../api/log-stream.ts";

/** As many as a reader scrolls through; older ones go. */
const mostLines = 2000;
/** Many lines at once are one drawing. */
const drawEveryMs = 100;
const againMs = 3000;

export interface Logs {
  readonly lines: readonly string[];
  readonly state: "opening" | "open" | "over" | "lost";
}

/**
 * The log of a run as it grows. Another `run` starts anew. A page that nobody sees holds no connection: browsers allow
 * six per host, and each tab would take one.
 */
export function useLogs(environmentId: string, run: string): Logs {
  const [logs, setLogs] = useState<Logs>({ lines: [], state: "opening" });
  const seen = useSeen();
  useEffect(() => {
    if (!seen) return;
    const left = new AbortController();
    void follow(environmentId, left.signal, setLogs);
    return () => left.abort();
  }, [environmentId, run, seen]);
  return logs;
}

async function follow(id: string, signal: AbortSignal, draw: (logs: Logs) => void): Promise<void> {
  let lines: readonly string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (state: Logs["state"]) => {
    clearTimeout(timer);
    timer = undefined;
    if (!signal.aborted) draw({ lines, state });
  };
  const heard = (more: readonly string[]) => {
    lines = [...lines, ...more].slice(-mostLines);
    timer ??= setTimeout(() => show("open"), drawEveryMs);
  };
  while (!signal.aborted) {
    const before = lines;
    lines = [];
    const over = await withToken((token) => readLog(token, id, { heard, signal })).catch(() => undefined);
    // What was read before stays while there is no answer.
    if (over === undefined && lines.length === 0) lines = before;
    show(over === undefined ? "lost" : over ? "over" : "open");
    if (over) return;
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

function useSeen(): boolean {
  const [seen, setSeen] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const look = () => setSeen(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return seen;
}
