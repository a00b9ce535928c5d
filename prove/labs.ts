import { readdirSync, readFileSync } from "node:fs";
import { must, until } from "../testing/customer.ts";

/** Waits until JupyterLab can be launched. @throws the reason if it is unavailable */
export async function preparedJupyter(url: string): Promise<void> {
  const isReady = async () => {
    const { types } = await must(url, "GET", "/capacity");
    const jupyter = types.find((each: { type: string }) => each.type === "jupyter");
    if (jupyter?.state === "unavailable") throw new Error(jupyter.message);
    return jupyter?.state === "ready";
  };
  await until("JupyterLab to be prepared", isReady, 300_000);
}

/**
 * The top processes of an environment's runs, from the process table, without children that look alike. Pid and start
 * time, in ticks, identify a process.
 */
export function runsOf(environmentId: string): { readonly pid: number; readonly started: string | undefined }[] {
  const found = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const isServer =
          words.some((word) => /jupyter.?lab/.test(word)) && words.some((word) => word.includes(environmentId));
        if (!isServer || words[0]?.endsWith("bwrap")) return [];
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
        return [{ pid: Number(pid), parent: Number(fields?.[1]), started: fields?.[19] }];
      } catch {
        return [];
      }
    });
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parent }) => !pids.has(parent)).map(({ pid, started }) => ({ pid, started }));
}

/** Pids of JupyterLab itself, without the shells, log writer and sandbox around it, which outlive it for a moment. */
export function labsOf(environmentId: string): readonly number[] {
  return [...new Set(runsOf(environmentId).flatMap(({ pid }) => labsBelow(pid)))];
}

const around = ["sh", "bwrap", "cat", "mv"];

function labsBelow(pid: number): readonly number[] {
  try {
    if (!around.includes(readFileSync(`/proc/${pid}/comm`, "utf8").trim())) return [pid];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return children.flatMap((child) => labsBelow(Number(child)));
  } catch {
    return [];
  }
}
