import type { Container } from "dockerode";
import type { RunProcess } from "../../driver.ts";

/**
 * The processes of a running container, as the host's ps lists them: pids are the host's, arguments are joined by blanks. A ps
 * that knows no executables (before procps 3.3.15) is asked for the least.
 */
export async function listProcesses(container: Container, abortSignal: AbortSignal): Promise<readonly RunProcess[]> {
  const top = (columns: string): Promise<Listed> => container.top({ ps_args: `-eo ${columns}`, ...{ abortSignal } });
  const { Titles, Processes } = await top("pid,sid,tty,exe:4096,args").catch(() => top("pid,args"));
  const columns = ["PID", "EXE", "COMMAND", "SID", "TT"].map((title) => (Titles ?? []).indexOf(title));
  const [pid = 0, program = -1, command = 1, session = -1, terminal = -1] = columns;
  return (Processes ?? []).map((row) => ({
    pid: Number(row[pid]),
    program: row[program],
    command: row[command] ?? "",
    ...(terminal >= 0 && { inTerminal: row[terminal] !== "?" && row[session] !== row[pid] }),
  }));
}

interface Listed {
  readonly Titles?: readonly string[] | null;
  readonly Processes?: readonly (readonly string[])[] | null;
}
