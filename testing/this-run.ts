import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

export const machine = `${cpus().length} cores of ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`;

/** Ends with "-dirty" where files differ from it. */
export const commit = execFileSync("git", ["describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"], {
  cwd: import.meta.dirname,
  encoding: "utf8",
}).trim();
