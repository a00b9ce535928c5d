import type { Container } from "dockerode";
import type { RunProcess } from "../../driver.ts";

/** The processes of a running container, as the host's ps lists them: pids are the host's, arguments are joined by blanks. */
export async function listProcesses(container: Container, abortSignal: AbortSignal): Promise<readonly RunProcess[]> {
  const { Titles, Processes }: Listed = await container.top({ ps_args: "-eo pid,args", ...{ abortSignal } });
  const [pid, command] = ["PID", "COMMAND"].map((title) => (Titles ?? []).indexOf(title));
  return (Processes ?? []).map((row) => ({ pid: Number(row[pid ?? 0]), command: row[command ?? 1] ?? "" }));
}

interface Listed {
  readonly Titles?: readonly string[] | null;
  readonly Processes?: readonly (readonly string[])[] | null;
}
