import { type IncomingMessage, request } from "node:http";
import type { Endpoint } from "../../drivers/driver.ts";

const timeoutMs = 5000;
const maxResponseLength = 1_000_000;
/** Thirty years. What lies before the beginning of PostgreSQL's time would fail the one statement of a whole host. */
export const maxIdleSeconds = 1e9;
/** Kernels in these states compute nothing. A new one is `starting` until something is run in it. */
const idleStates: ReadonlySet<unknown> = new Set(["idle", "starting", "dead"]);

/** What JupyterLab says of a kernel or, without a state, of a terminal. */
interface Listed {
  readonly execution_state?: unknown;
  readonly last_activity?: unknown;
}

/**
 * How long no cell has run and no terminal has written, by JupyterLab's own clock; null where there is
 * neither. 0 for a kernel that computes, and for what is not understood. Throws when JupyterLab does not answer. Others
 * can run code in there: what it says is not trusted to be short, to come, or to be a time that can be.
 */
export async function jupyterIdleSeconds(endpoint: Endpoint, runToken: string): Promise<number | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answers = await Promise.all(
    ["/api/kernels", "/api/terminals"].map((path) => fetchList(endpoint, runToken, path, signal)),
  );
  const quiet = answers.flatMap(({ nowMs, listed }) => listed.map((one) => idleSecondsOf(one, nowMs)));
  return quiet.length === 0 ? null : Math.min(...quiet);
}

function idleSecondsOf({ execution_state: state, last_activity: at }: Listed, nowMs: number): number {
  if (state !== undefined && !idleStates.has(state)) return 0;
  const seconds = (nowMs - Date.parse(String(at))) / 1000;
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
  const { promise, resolve, reject } = Promise.withResolvers<ListResponse>();
  const headers = { host: "localhost", authorization: `token ${runToken}`, accept: "application/json" };
  request({ ...endpoint, path, headers, agent: false, signal }, (response) => {
    readList(response).then((listed) => resolve({ nowMs: Date.parse(response.headers.date ?? ""), listed }), reject);
  })
    .on("error", reject)
    .end();
  return await promise;
}

async function readList(response: IncomingMessage): Promise<readonly Listed[]> {
  let body = "";
  for await (const piece of response.setEncoding("utf8")) {
    body += piece;
    if (body.length > maxResponseLength) throw new Error("JupyterLab answers without end");
  }
  const listed: unknown = response.statusCode === 200 ? JSON.parse(body) : undefined;
  if (!Array.isArray(listed)) throw new Error(`JupyterLab answers ${response.statusCode}, which is no list`);
  return listed.filter((each): each is Listed => typeof each === "object" && each !== null);
}
