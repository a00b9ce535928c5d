import type { Container } from "dockerode";
import type { RunProcess } from "../../driver.ts";

/**
 * The processes of a running container, as the host's ps lists them: pids are the host's, arguments are joined by blanks. A ps
 * that knows no executables (before procps 3.3.15) is asked without.
 */
export async function listProcesses(container: Container, abortSignal: AbortSignal): Promise<readonly RunProcess[]> {
  const top = (columns: string): Promise<Listed> => container.top({ ps_args: `-eo ${columns}`, ...{ abortSignal } });
  const { Titles, Processes } = await top("pid,exe:4096,args").catch(() => top("pid,args"));
  const [pid, program, command] = ["PID", "EXE", "COMMAND"].map((title) => (Titles ?? []).indexOf(title));
  return (Processes ?? []).map((row) => ({
    pid: Number(row[pid ?? 0]),
    program: row[program ?? -1],
    command: row[command ?? 1] ?? "",
  }));
}

interface Listed {
  readonly Titles?: readonly string[] | null;
  readonly Processes?: readonly (readonly string[])[] | null;
}
