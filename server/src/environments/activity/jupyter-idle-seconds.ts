import type { Endpoint } from "../../drivers/driver.ts";
import { askJupyter } from "../ask-jupyter.ts";

const timeoutMs = 5000;
/** Thirty years. A time before PostgreSQL's first would fail the statement for a whole host. */
export const maxIdleSeconds = 1e9;
/** Kernels in these states compute nothing. A new one is `starting` until its first run. */
const idleStates: ReadonlySet<unknown> = new Set(["idle", "starting", "dead"]);

/** A kernel or, without a state, a terminal as JupyterLab lists it. */
interface Listed {
  readonly id?: unknown;
  readonly execution_state?: unknown;
  readonly last_activity?: unknown;
}

export interface JupyterActivity {
  /** See `jupyterIdleSeconds`. */
  readonly idleSeconds: number | null;
  /** A kernel computes, sleeps or waits for input. */
  readonly isBusy: boolean;
  /** When each kernel that has started was last used, by its id: every cell changes it, and no page that is opened. */
  readonly lastCells: ReadonlyMap<string, string>;
}

/**
 * Seconds since the last cell ran or a terminal wrote, by JupyterLab's own clock; null without kernels and terminals, 0
 * for a kernel that computes and for what cannot be read. Throws when JupyterLab does not respond. The owner's code can
 * answer in its place, so the length, the time and the values of a response are not trusted.
 */
export async function jupyterIdleSeconds(endpoint: Endpoint, runToken: string): Promise<number | null> {
  return (await jupyterActivity(endpoint, runToken)).idleSeconds;
}

/** What JupyterLab says of its kernels and terminals. Throws and distrusts as `jupyterIdleSeconds` does. */
export async function jupyterActivity(endpoint: Endpoint, runToken: string): Promise<JupyterActivity> {
  const signal = AbortSignal.timeout(timeoutMs);
  const [kernels, terminals] = await Promise.all([
    fetchList(endpoint, runToken, "/api/kernels", signal),
    fetchList(endpoint, runToken, "/api/terminals", signal),
  ]);
  const seconds = [kernels, terminals].flatMap(({ nowMs, listed }) => listed.map((one) => idleSecondsOf(one, nowMs)));
  return {
    idleSeconds: seconds.length === 0 ? null : Math.min(...seconds),
    isBusy: kernels.listed.some(isBusy),
    lastCells: new Map(
      kernels.listed
        .filter(({ execution_state: state }) => state !== "starting")
        .map(({ id, last_activity: at }) => [String(id), String(at)]),
    ),
  };
}

function isBusy({ execution_state: state }: Listed): boolean {
  return state !== undefined && !idleStates.has(state);
}

function idleSecondsOf(one: Listed, nowMs: number): number {
  if (isBusy(one)) return 0;
  const seconds = (nowMs - Date.parse(String(one.last_activity))) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), maxIdleSeconds) : 0;
}

interface ListResponse {
  readonly nowMs: number;
  readonly listed: readonly Listed[];
}

async function fetchList(
  endpoint: Endpoint,
  runToken: string,
  path: string,
  signal: AbortSignal,
): Promise<ListResponse> {
  const { nowMs, body, status } = await askJupyter(endpoint, runToken, path, signal);
  if (!Array.isArray(body)) throw new Error(`JupyterLab returned ${status} without a list`);
  return { nowMs, listed: body.filter((each): each is Listed => typeof each === "object" && each !== null) };
}
