import { useEffect, useState } from "react";
import { withToken } from "../../api/call.ts";
import { readLog } from "../../api/live/log-stream.ts";

/** Older lines are dropped. */
const maxLines = 2000;
/** Lines are batched per render. */
const drawEveryMs = 100;
const retryMs = 3000;

export interface Logs {
  readonly lines: readonly string[];
  readonly state: "opening" | "open" | "ended" | "unavailable";
}

/**
 * Follows the log of a run; another `run` restarts it. A hidden page closes its connection, because browsers allow six per
 * host.
 */
export function useLogs(environmentId: string, run: string): Logs {
  const [logs, setLogs] = useState<Logs>({ lines: [], state: "opening" });
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    const controller = new AbortController();
    void follow(environmentId, controller.signal, setLogs);
    return () => controller.abort();
  }, [environmentId, run, visible]);
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
  const onLines = (more: readonly string[]) => {
    lines = [...lines, ...more].slice(-maxLines);
    timer ??= setTimeout(() => show("open"), drawEveryMs);
  };
  while (!signal.aborted) {
    const before = lines;
    lines = [];
    const ended = await withToken((token) => readLog(token, id, { onLines, signal })).catch(() => undefined);
    // Earlier lines stay while the server is unavailable.
    if (ended === undefined && lines.length === 0) lines = before;
    show(ended === undefined ? "unavailable" : ended ? "ended" : "open");
    if (ended) return;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

function useVisible(): boolean {
  const [visible, setVisible] = useState(() => document.visibilityState === "visible");
  useEffect(() => {
    const update = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", update);
    return () => document.removeEventListener("visibilitychange", update);
  }, []);
  return visible;
}
