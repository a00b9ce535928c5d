import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/**
 * `Driver.machineId` of processes: the running kernel, its namespace of process ids (another container does not see the
 * processes of this one) and the data folder. The runs end with the kernel and the namespace. Elsewhere than on Linux the name
 * of the machine stands for both.
 */
export async function processMachineId(directory: string): Promise<string> {
  const kernel = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => hostname());
  const processes = await readlink("/proc/self/ns/pid").catch(() => "");
  return `the processes of ${kernel.trim()} ${processes} with DATA_DIR ${directory}`;
}
