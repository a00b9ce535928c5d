import type { Stats } from "../../driver.ts";

/** Prints the counters of the container's cgroup, of version 1 or 2, and of its network, a file's name before each line. */
export const usageScript = [
  "cd /sys/fs/cgroup",
  "for f in cpu.stat memory.current memory.stat pids.current cpuacct/cpuacct.usage memory/memory.usage_in_bytes" +
    ' memory/memory.stat pids/pids.current /proc/net/dev; do [ -r "$f" ] && sed "s|^|$f |" "$f"; done; true',
].join(" && ");

/** CPU, memory, processes and traffic in the output of `usageScript`; memory leaves out page cache that the kernel can drop at once. */
export function usageOf(output: string): Omit<Stats, "homeMb" | "gpus"> {
  const figure = (pattern: string) => Number(output.match(new RegExp(`^${pattern} (\\d+)$`, "m"))?.[1] ?? Number.NaN);
  const first = (...patterns: readonly string[]) => patterns.map(figure).find((value) => !Number.isNaN(value)) ?? 0;
  const memory = first("memory\\.current", "memory/memory\\.usage_in_bytes");
  const cache = first("memory\\.stat inactive_file", "memory/memory\\.stat total_inactive_file");
  const cpuSeconds = first("cpu\\.stat usage_usec") / 1e6 || first("cpuacct/cpuacct\\.usage") / 1e9;
  return {
    cpuSeconds,
    memoryMb: Math.max(0, memory - cache) / 1e6,
    pids: first("pids\\.current", "pids/pids\\.current"),
    ...trafficOf(output),
  };
}

/** All interfaces but loopback. */
function trafficOf(output: string): Pick<Stats, "receivedBytes" | "sentBytes"> {
  const lines = [...output.matchAll(/^\/proc\/net\/dev +([^\s:]+): *(\S.*)$/gm)].filter(([, name]) => name !== "lo");
  const sum = (column: number) =>
    lines.reduce((total, [, , columns = ""]) => total + Number(columns.trim().split(/\s+/)[column] ?? 0), 0);
  return { receivedBytes: sum(0), sentBytes: sum(8) };
}
