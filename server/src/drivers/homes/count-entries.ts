import { existsSync } from "node:fs";
import { DriverError, type HomeCount } from "../driver.ts";
import { homeEntries } from "./home-entries.ts";
import { requireText } from "./restore-home.ts";

/** As `Driver.countHome`, for a folder of this machine. A file is opened, because what cannot be read is not packed either. */
export async function countEntries(folder: string, signal: AbortSignal): Promise<HomeCount | undefined> {
  if (!existsSync(folder)) return undefined;
  const denied = () => {
    throw new DriverError("refused", "it has files that cannot be read");
  };
  let [entries, bytes] = [0, 0];
  for await (const entry of homeEntries(folder, denied)) {
    signal.throwIfAborted();
    requireText(entry.path);
    if (isOfVolume(entry.path)) continue;
    entries += 1;
    if (entry.type === "File") bytes += entry.size;
  }
  return { entries, bytes };
}

/** A volume of a cluster has this folder, which is no file of its owner's; `countScript` leaves it out too. */
function isOfVolume(path: string): boolean {
  return path === "lost+found" || path.startsWith("lost+found/");
}
