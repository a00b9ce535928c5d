import { isPort, type ListeningPort } from "@berth/contract";
import { askJupyter } from "../ask-jupyter.ts";
import type { Environment } from "../environment.ts";

const timeoutMs = 3000;
const mostPorts = 100;
const longestName = 60;

/**
 * What listens inside, as its JupyterLab says (images/ports.py, G389); null where it does not run or does not say so in time. The
 * owner's code can answer in its place, so the answer is cut to its form.
 */
export async function portsOf({
  status,
  endpoint,
  run_token: token,
}: Pick<Environment, "status" | "endpoint" | "run_token">): Promise<ListeningPort[] | null> {
  if (status !== "active" || !endpoint || token === null) return null;
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await askJupyter(endpoint, token, "/berth/ports", signal).catch(() => undefined);
  if (!Array.isArray(answer?.body)) return null;
  return answer.body.slice(0, mostPorts).flatMap((each: unknown) => {
    const { port, program } = (each ?? {}) as { readonly port?: unknown; readonly program?: unknown };
    if (typeof port !== "number" || !isPort(port)) return [];
    return [{ port, program: String(program ?? "").slice(0, longestName) }];
  });
}
